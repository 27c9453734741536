//! What the offload runtime's log (`LIBOMPTARGET_INFO`) says of a run: kernels, copies, and pointers that a kernel
//! uses without a mapping. Such a pointer still points into host memory; on the x86_64 device the kernel reads it all the
//! same, so that no comparison of results can find it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;

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
    /// Bytes copied to the device by the variable that a list item begins with, or by [`UNNAMED`], without small
    /// copies.
    pub large_to: BTreeMap<String, u64>,
    /// Bytes copied from the device, in the same way.
    pub large_from: BTreeMap<String, u64>,
    /// The host addresses that are mapped under each name. Pointers that change places have several in common, and so
    /// do an argument and its parameter.
    pub addresses: BTreeMap<String, BTreeSet<String>>,
    /// The pointers that some kernel uses without a mapping, each with the first kernel that does (`file:line:column`).
    pub unmapped: BTreeMap<String, String>,
    /// The file and line of each directive that launched a kernel.
    pub entered: BTreeSet<(String, usize)>,
}

/// The name in the log for structures that are mapped implicitly, and for some members.
pub const UNNAMED: &str = "unknown";

/// A copy of at most this many bytes is small: a scalar or a single element.
const SMALL: u64 = 16;

/// The contents of the log: kernel arguments, mappings found, mappings made, launches and copies. Not the whole table
/// after each region, which bit 4 would add.
pub const LOG: &str = "59";

/// The arguments of one kernel, between its entry and its launch.
#[derive(Default)]
struct Arguments {
    place: String,
    used: BTreeSet<String>,
    mapped: BTreeSet<String>,
}

impl Traffic {
    /// Reads the log of one run to its end and skips the output of the program itself.
    #[must_use]
    pub fn read(log: impl BufRead) -> Self {
        let mut traffic = Self::default();
        let mut current: Option<Arguments> = None;
        // If several threads launch kernels at a time, their lines are mixed and it is not known which kernel they
        // belong to.
        let mut overlap = false;
        for line in log.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            traffic.count(&line);
            traffic.name_data(&line);
            if let Some((_, rest)) = line.split_once("Entering OpenMP kernel at ") {
                let place = rest.split(" with ").next().unwrap_or_default().to_owned();
                overlap |= current.is_some();
                current = Some(Arguments { place, ..Arguments::default() });
            } else if line.contains("Launching kernel") {
                traffic.kernels += 1;
                let arguments = current.take().unwrap_or_default();
                let mut parts = arguments.place.rsplitn(3, ':').skip(1);
                if let (Some(line), Some(file)) = (parts.next().and_then(|line| line.parse().ok()), parts.next()) {
                    traffic.entered.insert((file.to_owned(), line));
                }
                for name in arguments.used.difference(&arguments.mapped) {
                    traffic.unmapped.entry(name.clone()).or_insert_with(|| arguments.place.clone());
                }
            } else if let Some(arguments) = &mut current {
                arguments.read(&line);
            }
        }
        if overlap {
            traffic.unmapped.clear();
        }
        traffic
    }

    fn count(&mut self, line: &str) {
        let (copies, bytes, large) = if line.contains("Copying data from host to device") {
            (&mut self.copies_to, &mut self.bytes_to, &mut self.large_to)
        } else if line.contains("Copying data from device to host") {
            (&mut self.copies_from, &mut self.bytes_from, &mut self.large_from)
        } else {
            return;
        };
        let size = size(line);
        *copies += 1;
        *bytes += size;
        if size > SMALL {
            *large.entry(variable(line).unwrap_or(UNNAMED).to_owned()).or_default() += size;
        }
    }

    /// Notes the addresses of the data that a line about a mapping or a copy names.
    fn name_data(&mut self, line: &str) {
        let address = line.split_once("HstPtrBegin=").or_else(|| line.split_once("HstPtr="));
        if let (Some((_, rest)), Some(name)) = (address, variable(line))
            && name != UNNAMED
            && size(line) > SMALL
        {
            let address = rest.split(',').next().unwrap_or_default();
            self.addresses.entry(name.to_owned()).or_default().insert(address.to_owned());
        }
    }

    /// The names under which the data of `name` were mapped, itself included.
    #[must_use]
    pub fn names_of(&self, name: &str) -> BTreeSet<String> {
        let own = self.addresses.get(name).cloned().unwrap_or_default();
        let others = self.addresses.iter().filter(|(_, addresses)| !addresses.is_disjoint(&own));
        others.map(|(other, _)| other.clone()).chain([name.to_owned()]).collect()
    }
}

/// The bytes that a line names.
fn size(line: &str) -> u64 {
    line.split_once("Size=").and_then(|(_, rest)| rest.split(',').next()?.trim().parse().ok()).unwrap_or(0)
}

/// The variable that the list item of a line begins with.
fn variable(line: &str) -> Option<&str> {
    let (_, item) = line.rsplit_once("Name=")?;
    item.trim().split(['[', '.']).next()
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_copies_and_names_pointers_without_a_mapping() {
        let log = "omptarget device 0 info: Copying data from host to device, HstPtr=0x1, TgtPtr=0x2, Size=400, Name=b\n\
                   omptarget device 0 info: Entering OpenMP kernel at d.c:6:1 with 3 arguments:\n\
                   omptarget device 0 info: use_address(a)[0] (implicit)\n\
                   omptarget device 0 info: use_address(c)[0] (implicit)\n\
                   the program's own line\n\
                   omptarget device 0 info: Mapping exists with HstPtrBegin=0x1, Size=0, Name=c\n\
                   \"PluginInterface\" device 0 info: Launching kernel k with 1 blocks\n\
                   omptarget device 0 info: Copying data from device to host, TgtPtr=0x2, HstPtr=0x1, Size=8, Name=b\n";
        let traffic = Traffic::read(log.as_bytes());
        assert_eq!((traffic.kernels, traffic.copies_to, traffic.bytes_to), (1, 1, 400));
        assert_eq!((traffic.copies_from, traffic.bytes_from), (1, 8));
        assert_eq!(traffic.unmapped.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "d.c:6:1".to_owned())]);
    }

    #[test]
    fn pointers_that_change_places_name_the_same_data() {
        let copy = |address: &str, name: &str| {
            format!(
                "info: Copying data from host to device, HstPtr={address}, TgtPtr=0x9, Size=400, Name={name}[0:n]\n"
            )
        };
        let log = [copy("0x1", "old"), copy("0x2", "new"), copy("0x2", "old"), copy("0x3", "other")].concat();
        let traffic = Traffic::read(log.as_bytes());
        assert_eq!(traffic.names_of("old").into_iter().collect::<Vec<_>>(), ["new", "old"]);
        assert_eq!(traffic.names_of("other").into_iter().collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn kernels_launched_at_the_same_time_tell_nothing_of_their_pointers() {
        let log = "omptarget device 0 info: Entering OpenMP kernel at d.c:6:1 with 1 arguments:\n\
                   omptarget device 0 info: use_address(a)[0] (implicit)\n\
                   omptarget device 0 info: Entering OpenMP kernel at d.c:6:1 with 1 arguments:\n\
                   omptarget device 0 info: use_address(a)[0] (implicit)\n\
                   omptarget device 0 info: Mapping exists with HstPtrBegin=0x1, Size=0, Name=a\n\
                   \"PluginInterface\" device 0 info: Launching kernel k with 1 blocks\n\
                   omptarget device 0 info: Mapping exists with HstPtrBegin=0x1, Size=0, Name=a\n\
                   \"PluginInterface\" device 0 info: Launching kernel k with 1 blocks\n";
        let traffic = Traffic::read(log.as_bytes());
        assert_eq!((traffic.kernels, traffic.unmapped.len()), (2, 0));
    }
}
