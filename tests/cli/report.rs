//! The page about a project.

use crate::project::{PLAIN, Project, REFUSED, SPLITS, assert_contains};

/// The drawings read what `explain` prints: where that changes its words, they must follow.
#[test]
fn what_passes_decide_is_drawn() {
    let fixture = |name: &str| format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let project = Project::new(&[]);
    let page = |name: &str| {
        let flags = ["--no-config", "--passes", "all", "--device", "h200", "-o", "page.html"];
        project.expect(0, &[&["report", &fixture(name)], flags.as_slice()].concat());
        String::from_utf8(project.read("page.html")).unwrap()
    };
    let split = page("split_target/first_example.c");
    assert_contains(&split, "Its maps copy 3 to the device (<code>a[0:n*n], b[0:n], x[0:n]</code>), 2 back");
    assert_contains(&split, "chosen: 4096 teams of 16 threads, 4096 with work, on 132 of 132 multiprocessors");
    assert_contains(&split, "<rect class=\"team\"");
    let kept = page("hoist_maps/called_functions.c");
    assert_contains(&kept, "aria-label=\"3 copies in each pass\"");
    assert_contains(&kept, "<rect class=\"held\"");
    let tiles = page("pipeline_loop/alloc.c");
    assert_contains(&tiles, "in one piece, 19.1 ms in 16 tiles");
    assert_contains(
        &tiles,
        "<td class=\"number\">80.5 ms</td><td class=\"number\">19.1 ms</td><td class=\"number\">4.2 ×</td>",
    );
    assert!(tiles.matches("<rect class=\"stage").count() > 40, "{tiles}");
}

#[test]
fn a_page_tells_what_changes_and_what_is_left_alone() {
    let project = Project::new(&[("src/a&b.c", SPLITS), ("src/c.c", REFUSED), ("src/d.c", PLAIN)]);
    let ran = project.expect(0, &["report", "src", "-o", "page.html"]);
    assert_contains(&ran.stderr, "page.html tells of 3 files");
    let page = String::from_utf8(project.read("page.html")).unwrap();
    assert_contains(&page, "1 of 3 files would change; 1 region left alone, with a syntax error.");
    assert_contains(&page, "<h3>src/a&amp;b.c:2 <span class=\"tag\">1 → 2 kernels</span></h3>");
    assert_contains(&page, "<b>split</b> split into 2 kernels");
    assert_contains(&page, "<a href=\"#OMPS101\">OMPS101</a>");
    assert_contains(&page, "<details class=\"rule\" id=\"OMPS101\">");
    assert_contains(&page, "<span class=\"add\">+#pragma omp target data map(tofrom: a[0:n]) map(to: b[0:n])</span>");
    assert_contains(&page, "candidates:");
    // Nothing is loaded from elsewhere, and links lead to places in the page.
    assert!(!page.contains("http") && !page.contains("<script") && !page.contains("<link"), "{page}");
    for (at, _) in page.match_indices("href=\"#") {
        let target = page[at + 7..].split('"').next().unwrap();
        assert_contains(&page, &format!("id=\"{target}\""));
    }
    for file in ["src/a&b.c", "src/c.c"] {
        assert_eq!(project.read(file), if file == "src/c.c" { REFUSED.as_bytes() } else { SPLITS.as_bytes() });
    }
    // A second run says the same.
    project.expect(0, &["report", "src", "-o", "again.html"]);
    assert_eq!(String::from_utf8(project.read("again.html")).unwrap(), page);
    assert_contains(&project.expect(2, &["report", "src", "-o", "none/page.html"]).stderr, "none/page.html: ");
    assert_contains(&project.expect(2, &["report", "missing.c"]).stderr, "missing.c failed");
}
