//! Where things are put while a project is tuned.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::validate::interrupt::{self, Folder};

/// The folder in which a project is built and run. It has the same place in each run, since builds may write it into what they make; only
/// where another run uses it now, it is somewhere else.
pub(super) fn work_folder(project: &Path) -> Result<Folder, String> {
    let hash = blake3::hash(project.as_os_str().as_encoded_bytes()).to_hex();
    let path = std::env::temp_dir().join(format!("ompsplit-tune-{}", hash.get(..16).unwrap_or_default()));
    let mine = path.join("process");
    // A run that was killed leaves its folder behind.
    if let Some(process) = fs::read_to_string(&mine).ok().filter(|_| cfg!(target_os = "linux"))
        && !Path::new("/proc").join(process.trim()).exists()
    {
        let _gone = fs::remove_dir_all(&path);
    }
    let made = interrupt::folder_at(path).and_then(|folder| {
        fs::write(&mine, std::process::id().to_string())?;
        Ok(folder)
    });
    made.or_else(|_| interrupt::folder()).map_err(|error| format!("no temporary folder can be made: {error}"))
}

/// A folder that is empty or does not exist yet; its absolute path.
pub(super) fn empty(folder: &Path) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    if fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(format!("{} is not empty", folder.display()));
    }
    folder.canonicalize().map_err(failed)
}

/// The date in Greenwich.
pub(super) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date of a day, counted from 1970. The algorithm is that of H. Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in
/// March, so that the leap day is the last of a year.
fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let dates = [(0, "1970-01-01"), (11_016, "2000-02-29"), (20_783, "2026-11-26"), (20_818, "2026-12-31")];
        for (day, shown) in dates {
            assert_eq!(date(day), shown);
        }
    }

    #[test]
    fn a_folder_that_is_in_use_is_left_alone() {
        let project = tempfile::tempdir().unwrap();
        let one = work_folder(project.path()).unwrap();
        let other = work_folder(project.path()).unwrap();
        assert_ne!(one.path(), other.path());
        let place = one.path().to_owned();
        drop(one);
        assert_eq!(work_folder(project.path()).unwrap().path(), place);
    }
}
