//! What the offload runtime's log (`LIBOMPTARGET_INFO=-1`) says of a run: kernels, copies, and pointers that a kernel
//! uses without a mapping. Such a pointer still points into host memory; on the x86_64 device the kernel reads it all the
//! same, so that no comparison of results can find it.

use std::collections::BTreeSet;

/// What a run launched and moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Kernels launched.
    pub kernels: usize,
    /// Copies to the device.
    pub copies_to: usize,
    /// Bytes copied to the device.
    pub bytes_to: u64,
    /// Copies from the device.
    pub copies_from: usize,
    /// Bytes copied from the device.
    pub bytes_from: u64,
    /// Names of pointers that some kernel uses without a mapping.
    pub unmapped: BTreeSet<String>,
}

/// The arguments of one kernel, between its entry and its launch.
#[derive(Default)]
struct Arguments {
    used: BTreeSet<String>,
    mapped: BTreeSet<String>,
}

impl Traffic {
    /// Reads the log of one run.
    pub fn read(log: &str) -> Self {
        let mut traffic = Self::default();
        let mut current: Option<Arguments> = None;
        for line in log.lines() {
            traffic.count(line);
            if line.contains("Entering OpenMP kernel") {
                current = Some(Arguments::default());
            } else if line.contains("Launching kernel") {
                traffic.kernels += 1;
                let arguments = current.take().unwrap_or_default();
                traffic.unmapped.extend(arguments.used.difference(&arguments.mapped).cloned());
            } else if let Some(arguments) = &mut current {
                arguments.read(line);
            }
        }
        traffic
    }

    fn count(&mut self, line: &str) {
        let size = || line.split_once("Size=").and_then(|(_, rest)| rest.split(',').next()?.trim().parse::<u64>().ok());
        if line.contains("Copying data from host to device") {
            self.copies_to += 1;
            self.bytes_to += size().unwrap_or(0);
        } else if line.contains("Copying data from device to host") {
            self.copies_from += 1;
            self.bytes_from += size().unwrap_or(0);
        }
    }

    /// One line for a message.
    pub fn summary(&self) -> String {
        format!(
            "{} kernels, {} copies of {} bytes to and {} copies of {} bytes from the device",
            self.kernels, self.copies_to, self.bytes_to, self.copies_from, self.bytes_from
        )
    }
}

impl Arguments {
    fn read(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once("use_address(")
            && let Some((name, _)) = rest.rsplit_once(")[0]")
        {
            self.used.insert(name.to_owned());
        } else if (line.contains("Mapping exists") || line.contains("Creating new map entry"))
            && let Some((_, name)) = line.rsplit_once("Name=")
        {
            self.mapped.insert(name.trim().to_owned());
        }
    }
}
