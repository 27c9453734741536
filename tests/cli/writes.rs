//! Writes.

use std::fs;

use crate::project::{PLAIN, Project, SPLITS, assert_contains, assert_split};

#[cfg(unix)]
#[test]
fn an_unchanged_file_is_not_touched_and_a_changed_one_keeps_its_mode() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let project = Project::new(&[("a.c", PLAIN), ("b.c", SPLITS)]);
    fs::set_permissions(project.path("b.c"), fs::Permissions::from_mode(0o751)).unwrap();
    let identity = |name: &str| {
        let metadata = fs::metadata(project.path(name)).unwrap();
        (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
    };
    let before = identity("a.c");
    project.expect(0, &["-i", "a.c", "b.c"]);
    assert_eq!(identity("a.c"), before);
    assert_split(&project.read("b.c"));
    assert_eq!(fs::metadata(project.path("b.c")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(fs::read_dir(project.folder.path()).unwrap().count(), 2, "a temporary file is left");
}

#[cfg(unix)]
#[test]
fn symbolic_links_stay_links_and_their_target_is_written() {
    let project = Project::new(&[("real/a.c", SPLITS)]);
    std::os::unix::fs::symlink("real/a.c", project.path("link.c")).unwrap();
    project.expect(0, &["-i", "link.c"]);
    assert!(fs::symlink_metadata(project.path("link.c")).unwrap().file_type().is_symlink());
    assert_split(&project.read("real/a.c"));
}

#[cfg(unix)]
#[test]
fn a_file_given_twice_is_written_once() {
    let project = Project::new(&[("real/a.c", SPLITS)]);
    std::os::unix::fs::symlink("real/a.c", project.path("link.c")).unwrap();
    let ran = project.expect(0, &["-i", "link.c", "real/a.c", "real", "./real/a.c"]);
    assert_split(&project.read("real/a.c"));
    assert_eq!(ran.stderr.matches(": split into").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new(&[("a.c", SPLITS), ("b.c", SPLITS)]);
    fs::set_permissions(project.path("a.c"), fs::Permissions::from_mode(0o444)).unwrap();
    let ran = project.expect(2, &["-i", "a.c", "b.c"]);
    assert_contains(&ran.stderr, "a.c: is read-only");
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    assert_split(&project.read("b.c"));
}

#[test]
fn line_ends_marks_and_foreign_bytes_survive() {
    let project = Project::new(&[]);
    let mut text = b"\xef\xbb\xbf/* \xe9t\xe9 */\r\n".to_vec();
    text.extend(SPLITS.replace('\n', "\r\n").trim_end().bytes());
    project.write("a.c", &text);
    let diff = project.expect(1, &["--diff", "a.c"]).stdout;
    let holds = |part: &[u8]| diff.windows(part.len()).any(|window| window == part);
    assert!(holds(b" \xef\xbb\xbf/* \xe9t\xe9 */\r\n"));
    assert!(holds(b" }\n\\ No newline at end of file\n"), "{}", String::from_utf8_lossy(&diff));
    project.expect(0, &["-i", "a.c"]);
    let after = project.read("a.c");
    assert_split(&after);
    assert!(after.starts_with(b"\xef\xbb\xbf/* \xe9t\xe9 */\r\n"));
    assert!(after.ends_with(b"}\r\n}"));
    let newlines = after.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(after.windows(2).filter(|pair| pair == b"\r\n").count(), newlines);
}

#[cfg(unix)]
#[test]
fn a_hard_link_keeps_the_old_text_and_this_is_said() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PLAIN)]);
    fs::hard_link(project.path("a.c"), project.path("other.txt")).unwrap();
    fs::hard_link(project.path("b.c"), project.path("unchanged.txt")).unwrap();
    let ran = project.expect(0, &["-i", "a.c", "b.c"]);
    assert_split(&project.read("a.c"));
    assert_eq!(project.read("other.txt"), SPLITS.as_bytes());
    assert_contains(&ran.stderr, "note: a.c: another hard link to it keeps the old text");
    assert!(!ran.stderr.contains("b.c"), "{}", ran.stderr);
    assert_contains(&project.expect(0, &["--help"]).text(), "Other hard links to it keep the old text");
}

/// An access control list as Linux keeps it: the owner and the group read and write, user 12345 reads.
#[cfg(target_os = "linux")]
const LIST: &[u8] = &[
    2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0x39, 0x30, 0, 0, 4, 0, 6, 0, 255, 255, 255, 255, 16, 0, 6,
    0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
];

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_kept() {
    use std::os::unix::fs::PermissionsExt;

    // The folder for test files is on a disk; one for temporary files may know no attributes.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let project = Project { folder };
    for (name, text) in [("a.c", SPLITS), ("plain.c", SPLITS)] {
        project.write(name, text.as_bytes());
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let list = "system.posix_acl_access";
    let set = |path: &str, name: &str, value: &[u8]| {
        xattr::set(project.path(path), name, value)
            .unwrap_or_else(|error| panic!("{name} on the target folder: {error}"));
    };
    set("a.c", "user.origin", b"measured\0");
    set("a.c", list, LIST);
    // What the folder gives to every new file is not what the old one had.
    set(".", "system.posix_acl_default", LIST);
    project.expect(0, &["-i", "a.c", "plain.c"]);
    for name in ["a.c", "plain.c"] {
        assert_split(&project.read(name));
    }
    let get = |path: &str, name: &str| xattr::get(project.path(path), name).unwrap();
    assert_eq!(get("a.c", "user.origin").as_deref(), Some(&b"measured\0"[..]));
    assert_eq!(get("a.c", list).as_deref(), Some(LIST));
    assert_eq!(get("plain.c", list), None);
    let mode = fs::metadata(project.path("plain.c")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
}

/// Only a privileged user can make a file of somebody else, as the tests in a container can.
#[cfg(unix)]
#[test]
fn the_owner_is_kept_where_it_may_be_given() {
    use std::os::unix::fs::{MetadataExt, chown};

    let project = Project::new(&[("a.c", SPLITS)]);
    let own = fs::metadata(project.path("a.c")).unwrap();
    let wanted = if own.uid() == 0 { (12345, 12346) } else { (own.uid(), own.gid()) };
    chown(project.path("a.c"), Some(wanted.0), Some(wanted.1)).unwrap();
    project.expect(0, &["-i", "a.c"]);
    assert_split(&project.read("a.c"));
    let new = fs::metadata(project.path("a.c")).unwrap();
    assert_eq!((new.uid(), new.gid()), wanted);
}
