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
    assert_eq!(ran.stderr.matches("help: split").count(), 1);
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
