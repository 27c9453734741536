//! `--device`: a profile by its name, from a file, or of the machine's own GPU.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cli::suggest;
use crate::device::DeviceProfile;
use crate::validate::interrupt;

/// The program of NVIDIA's driver that says which GPUs there are.
const DRIVER: &str = "nvidia-smi";

/// The profile that `--device` names.
pub(super) fn find(name: &str) -> Result<DeviceProfile, String> {
    if name == "native" {
        return native(std::env::var_os("OMPSPLIT_NVIDIA_SMI").unwrap_or_else(|| DRIVER.into()).as_ref());
    }
    if Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        let text = fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?;
        return DeviceProfile::parse(&text).map_err(|error| format!("{name}: {error}"));
    }
    DeviceProfile::named(name).ok_or_else(|| {
        let shipped = DeviceProfile::shipped();
        let hint = suggest::hint(name, shipped.iter().map(|device| device.name.as_str()).chain(["native"]));
        format!(
            "there is no device `{name}`{hint}; `ompsplit devices` lists them, and a .toml file may describe another"
        )
    })
}

/// The name of a GPU, or of the first one, by its driver.
pub(super) fn name(gpu: Option<&str>) -> Option<String> {
    let program = std::env::var_os("OMPSPLIT_NVIDIA_SMI").unwrap_or_else(|| DRIVER.into());
    let mut command = Command::new(program);
    command.args(gpu.map(|gpu| format!("--id={gpu}")));
    let output = interrupt::output(command.args(["--query-gpu=name", "--format=csv,noheader"])).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|name| name.trim().to_owned()).filter(|name| output.status.success() && !name.is_empty())
}

/// Asks the driver for the first GPU.
fn native(program: &Path) -> Result<DeviceProfile, String> {
    let shown = program.display();
    let failed = |what: String| format!("--device native: {what}; name a device (`ompsplit devices` lists them)");
    let mut command = Command::new(program);
    let output = interrupt::output(command.args(["--query-gpu=name,compute_cap", "--format=csv,noheader"]))
        .map_err(|error| failed(format!("`{shown}`, the program of NVIDIA's driver, cannot be run: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some((title, capability)) = text.lines().next().and_then(|line| line.split_once(',')) else {
        return Err(failed(format!("`{shown}` names no GPU")));
    };
    let (title, capability) = (title.trim(), capability.trim());
    by_title(title)
        .ok_or_else(|| failed(format!("there is no profile for `{title}` of compute capability {capability}")))
}

/// The shipped profile whose name consists of words of the product's name: `h200` of `NVIDIA H200`, `a100` of `NVIDIA A100-SXM4-80GB`.
fn by_title(title: &str) -> Option<DeviceProfile> {
    let words = |text: &str| -> Vec<String> {
        let separated = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        separated.map(str::to_ascii_lowercase).collect()
    };
    let title = words(title);
    DeviceProfile::shipped().into_iter().find(|device| words(&device.name).iter().all(|word| title.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(title: &str) -> Option<String> {
        by_title(title).map(|device| device.name)
    }

    #[test]
    fn the_drivers_names_are_known() {
        for (title, name) in [
            ("NVIDIA H200", "h200"),
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA A100-SXM4-80GB", "a100"),
            ("Tesla V100-SXM2-16GB", "v100"),
            ("Tesla P100-PCIE-16GB", "p100"),
            ("NVIDIA L40S", "l40s"),
            ("NVIDIA TITAN X (Pascal)", "titan-x-pascal"),
            ("GeForce GTX 480", "gtx-480"),
        ] {
            assert_eq!(name_of(title).as_deref(), Some(name), "{title}");
        }
        assert_eq!(name_of("NVIDIA GeForce RTX 4090"), None);
        assert_eq!(name_of(""), None);
    }

    #[test]
    fn what_is_not_found_is_said() {
        let error = |name: &str| find(name).map(|device| device.name).unwrap_or_else(|error| error);
        assert_eq!(error("H200"), "h200");
        assert!(error("h20").contains("did you mean `h200`?"));
        assert!(error("no-such.toml").starts_with("no-such.toml: "));
        assert!(native(Path::new("/no/such/program")).is_err_and(|error| error.contains("cannot be run")));
    }
}
