//! Packs what was built with the runtime libraries: the folder `package`, which needs nothing but a GPU and its driver.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::HOST;
use super::toolchain::Toolchain;

/// Parts of the C library, which belong to the machine.
const OF_THE_MACHINE: [&str; 7] = ["libc.", "libm.", "ld-linux", "libdl.", "librt.", "libpthread.", "linux-vdso"];

/// How every package begins to run.
const UNPACK: &str = r#"#!/bin/sh
# unpacks what was built beside this file, once, and runs it; `run --help` tells the options
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=${OMPSPLIT_BENCH_TREE:-$here/tree}
if [ ! -e "$tree/unpacked" ]; then
  mkdir -p "$tree"
  tar -xJf "$here/libraries.tar.xz" -C "$tree"
  tar -xJf "$here/built.tar.xz" -C "$tree"
  touch "$tree/unpacked"
fi
"#;

/// A folder with all that another machine needs to run what was built.
pub struct Package<'a> {
    /// What was built.
    pub tree: &'a Path,
    /// The parts of the tree that are packed.
    pub parts: &'a [&'a str],
    /// The end of the script `run`, which begins by unpacking.
    pub script: &'a str,
    /// What the folder may weigh, in bytes.
    pub most_bytes: u64,
}

/// Whether what was built stays unpacked: what is for this machine, or asked to be.
pub fn stays_here(toolchain: &Toolchain, unpacked: bool) -> bool {
    toolchain.architecture() == HOST || unpacked
}

/// Puts the program that runs everything into a tree, and the libraries where the tree is not packed.
pub fn complete(toolchain: &Toolchain, tree: &Path, unpacked: bool) -> Result<()> {
    let runner = std::env::current_exe()?;
    std::fs::copy(&runner, tree.join("bin/ompsplit-bench")).context("cannot copy the runner")?;
    if stays_here(toolchain, unpacked) {
        let link = tree.join("lib");
        std::os::unix::fs::symlink(toolchain.libraries(), &link)
            .with_context(|| format!("cannot make {}", link.display()))?;
        println!("built {}", tree.display());
    }
    Ok(())
}

/// Packs a tree into the folder `package` of `out`.
pub fn pack(toolchain: &Toolchain, out: &Path, package: &Package) -> Result<()> {
    let folder = out.join("package");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder)?;
    let libraries = out.join("work/libraries.tar.xz");
    if !libraries.exists() {
        pack_libraries(toolchain, &libraries)?;
    }
    std::fs::copy(&libraries, folder.join("libraries.tar.xz"))?;
    compress(package.tree, package.parts, &folder.join("built.tar.xz"))?;
    write_script(&folder.join("run"), &format!("{UNPACK}{}", package.script))?;
    let bytes = weigh(&folder)?;
    println!("built {}: {:.1} MB", folder.display(), bytes as f64 / 1e6);
    anyhow::ensure!(bytes <= package.most_bytes, "the package is larger than {} bytes", package.most_bytes);
    Ok(())
}

/// Copies the offload runtime and what it is linked with, and packs that; it changes with the compiler only.
fn pack_libraries(toolchain: &Toolchain, archive: &Path) -> Result<()> {
    let staging = tempfile::tempdir()?;
    let lib = staging.path().join("lib");
    std::fs::create_dir(&lib)?;
    for (name, path) in linked_libraries(&toolchain.libraries().join("libomptarget.so"))? {
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
    command.env("XZ_OPT", "--x86 --lzma2=preset=9e").arg("-cJf").arg(archive).arg("-C").arg(folder).args(names);
    let status = command.status().context("cannot run tar")?;
    anyhow::ensure!(status.success(), "tar failed: are xz-utils installed?");
    Ok(())
}

fn write_script(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text)?;
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
