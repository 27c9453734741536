//! Packs a built suite with the runtime libraries: the folder `package`, which needs nothing but a GPU and its driver.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::compile::Compiler;
use super::{HOST, Options};

/// What the folder may weigh, in bytes.
const MOST_BYTES: u64 = 60_000_000;

/// Parts of the C library, which belong to the machine.
const OF_THE_MACHINE: [&str; 7] = ["libc.", "libm.", "ld-linux", "libdl.", "librt.", "libpthread.", "linux-vdso"];

const RUN: &str = r#"#!/bin/sh
# usage: run [--quick] [--out FILE] ..   unpacks the suite beside itself, once, and runs it; `run --help` tells the rest
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=${OMPSPLIT_BENCH_TREE:-$here/tree}
if [ ! -e "$tree/unpacked" ]; then
  mkdir -p "$tree"
  tar -xJf "$here/libraries.tar.xz" -C "$tree"
  tar -xJf "$here/suite.tar.xz" -C "$tree"
  touch "$tree/unpacked"
fi
command=run
case ${1:-} in run | sweep) command=$1; shift ;; esac
exec "$tree/bin/ompsplit-bench" "$command" --tree "$tree" "$@"
"#;

/// Adds libraries and the runner to a built tree and packs it, unless it is for this machine.
pub fn finish(compiler: &Compiler, tree: &Path, options: &Options) -> Result<()> {
    let runner = std::env::current_exe()?;
    std::fs::copy(&runner, tree.join("bin/ompsplit-bench")).context("cannot copy the runner")?;
    if options.arch == HOST || options.unpacked {
        link_libraries(compiler, tree)?;
    }
    if options.arch != HOST {
        std::fs::create_dir_all(tree.join("driver"))?;
        compiler.compile_tracer(&tree.join("driver/libcuda.so"))?;
    }
    if options.arch == HOST || options.unpacked {
        println!("built {}", tree.display());
        return Ok(());
    }
    let package = options.out.join("package");
    std::fs::create_dir_all(&package)?;
    let libraries = compiler.work().join("libraries.tar.xz");
    if !libraries.exists() {
        pack_libraries(compiler, &libraries)?;
    }
    std::fs::copy(&libraries, package.join("libraries.tar.xz"))?;
    compress(tree, &["bin", "driver", "manifest.json"], &package.join("suite.tar.xz"))?;
    write_script(&package.join("run"))?;
    let bytes = weigh(&package)?;
    println!("built {}: {:.1} MB", package.display(), bytes as f64 / 1e6);
    anyhow::ensure!(bytes <= MOST_BYTES, "the package is larger than {MOST_BYTES} bytes");
    Ok(())
}

fn link_libraries(compiler: &Compiler, tree: &Path) -> Result<()> {
    let link = tree.join("lib");
    std::os::unix::fs::symlink(compiler.libraries(), &link).with_context(|| format!("cannot make {}", link.display()))
}

/// Copies the offload runtime and what it is linked with, and packs that; it changes with the compiler only.
fn pack_libraries(compiler: &Compiler, archive: &Path) -> Result<()> {
    let staging = tempfile::tempdir()?;
    let lib = staging.path().join("lib");
    std::fs::create_dir(&lib)?;
    for (name, path) in linked_libraries(&compiler.libraries().join("libomptarget.so"))? {
        std::fs::copy(&path, lib.join(&name)).with_context(|| format!("cannot copy {}", path.display()))?;
    }
    compress(staging.path(), &["lib"], archive)
}

/// A library and all it is linked with, by the name that the loader looks for.
fn linked_libraries(library: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let output = Command::new("ldd").arg(library).output().context("cannot run ldd")?;
    let mut found = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some("=>"), Some(path)) = (words.next(), words.next(), words.next()) else { continue };
        if !OF_THE_MACHINE.iter().any(|prefix| name.starts_with(prefix)) {
            found.insert(name.to_owned(), PathBuf::from(path));
        }
    }
    let real = library.canonicalize()?;
    let soname = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    found.insert(soname, real);
    Ok(found)
}

fn compress(folder: &Path, names: &[&str], archive: &Path) -> Result<()> {
    let mut command = Command::new("tar");
    command.env("XZ_OPT", "-6 -T0").arg("-cJf").arg(archive).arg("-C").arg(folder).args(names);
    let status = command.status().context("cannot run tar")?;
    anyhow::ensure!(status.success(), "tar failed: are xz-utils installed?");
    Ok(())
}

fn write_script(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, RUN)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn weigh(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
