//! Bad input for every rule: a check that cannot fail checks nothing.

use std::fs;

use super::{
    allow::Allowed,
    arrows, budgets, docs, lexer, look,
    members::{self, Member, Use, When},
    sources::Sources,
    words, workflows,
};

fn check(found: impl IntoIterator<Item = super::Finding>, expected: &[&str]) {
    let seen: Vec<String> = found.into_iter().map(|finding| finding.to_string()).collect();
    assert_eq!(seen, expected);
}

fn check_functions(source: &str, expected: &[(&str, usize, usize, usize)]) {
    let seen: Vec<_> = lexer::functions(&lexer::blank(source))
        .into_iter()
        .map(|seen| (seen.name, seen.parameters, seen.lines, seen.nesting))
        .collect();
    let expected: Vec<_> = expected.iter().map(|(name, p, l, n)| ((*name).to_owned(), *p, *l, *n)).collect();
    assert_eq!(seen, expected, "{source}");
}

#[test]
fn comments_and_literals_are_no_code() {
    for (source, left) in [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        ("a \"b \\\" { c\" d", "a            d"),
        ("r#\"a \" {\"# b", "           b"),
        ("br\"{\" b'{' '{' '\\'' '\\u{7d}' c", "                             c"),
        ("fn f<'a>(b: &'a str) {}", "fn f<'a>(b: &'a str) {}"),
        ("r#fn b'a", "r#fn b'a"),
        ("\"never closed {", "               "),
        ("/* never closed {", "                 "),
        ("'é' d", "     d"),
    ] {
        assert_eq!(lexer::blank(source), left, "{source}");
    }
}

#[test]
fn functions_are_measured() {
    check_functions("fn a() {}", &[("a", 0, 0, 0)]);
    check_functions("trait T { fn a(&self); fn b(&self, c: u8) { c } }", &[("b", 1, 1, 0)]);
    check_functions("fn a(self: Box<Self>, b: (u8, u8), c: impl Fn(u8, u8) -> u8,) { b }", &[("a", 2, 1, 0)]);
    check_functions("fn a<F: Fn(u8) -> u8>(b: Vec<HashMap<u8, u8>>) -> [u8; 2] { x }", &[("a", 1, 1, 0)]);
    check_functions("type A = fn(u8) -> u8;", &[]);
    check_functions("fn a() {\n  // why\n\n  b();\n}", &[("a", 0, 1, 0)]);
    check_functions(
        "fn a() { if b { for c in d { match e { F if g => {} H => loop {} } } } else if i {} }",
        &[("a", 0, 1, 4)],
    );
    check_functions("fn a() { let b = C { d: { 1 } }; e.map(|f| { f }); }", &[("a", 0, 1, 0)]);
    check_functions("fn a() { fn b() { while c {} } }", &[("a", 0, 1, 1), ("b", 0, 1, 1)]);
}

#[test]
fn test_modules_do_not_count() {
    for (source, left) in [
        ("a\n#[cfg(test)]\nmod tests {\n fn b() { c.d() }\n}\ne", "a\n\ne"),
        ("a\n#[cfg(test)]\nmod tests;\ne", "a\n\ne"),
        ("#[cfg(all(test, unix))]\nmod tests { {} }", ""),
        ("a", "a"),
    ] {
        assert_eq!(lexer::without_tests(source), left, "{source}");
    }
}

#[test]
fn budgets_are_kept() {
    let of = |text: &str| budgets::check(&Sources::of(&[("crates/a/src/b.rs", text)]));
    check(of("//! Fine.\nfn a() {}\n"), &[]);
    check(of("fn a() {}\n"), &["crates/a/src/b.rs: header: does not open with a `//!` line that says what it is for"]);
    check(of(&"//! Talks.\n".repeat(5)), &["crates/a/src/b.rs: header: 5, at most 4"]);
    let long = format!("//! Long.\nfn a() {{\n{}}}\n", "    b();\n".repeat(61));
    check(of(&long), &["crates/a/src/b.rs:a: function: 61, at most 60"]);
    let file = format!("//! Long.\n{}", "const A: u8 = 1;\n".repeat(400));
    check(of(&file), &["crates/a/src/b.rs: file: 401, at most 400"]);
    let tested = format!("{file}#[cfg(test)]\nmod tests {{\n{}}}\n", "    fn b() {}\n".repeat(50));
    check(of(&tested.replacen("const A: u8 = 1;\n", "", 1)), &[]);
    check(
        of("//! Many.\nfn a(b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) {}\n"),
        &["crates/a/src/b.rs:a: parameters: 6, at most 5"],
    );
    check(
        of("//! Deep.\nfn a() { if b { if c { if d { if e { if f {} } } } } }\n"),
        &["crates/a/src/b.rs:a: nesting: 5, at most 4"],
    );
    let traits = format!("//! Traits.\n{}", "pub trait A {}\n".repeat(6));
    let named = " crates/a/src/b.rs:A".repeat(6);
    check(of(&traits), &[&format!("workspace: traits: 6, at most 5:{named}")]);
}

#[test]
fn crates_and_test_files_have_budgets_too() {
    let file = format!("//! Long.\n{}", "const A: u8 = 1;\n".repeat(399));
    let names: Vec<String> = (0..11).map(|at| format!("crates/a/src/b{at}.rs")).collect();
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), file.as_str())).collect();
    check(budgets::check(&Sources::of(&texts)), &["crates/a: crate: 4389, at most 4000"]);
    let tests = format!("//! Tests.\n{}", "// one\n".repeat(800));
    check(
        budgets::check(&Sources::of(&[("crates/a/tests/b.rs", &tests)])),
        &["crates/a/tests/b.rs: test-file: 801, at most 800"],
    );
}

#[test]
fn words_and_paths_are_found() {
    let of = |path: &str, text: &str| words::check(&Sources::of(&[(path, text)]));
    let later = concat!("// TO", "DO later");
    check(of("a.rs", later), &[concat!("a.rs: unfinished: line 1: TO", "DO")]);
    check(of("a.md", concat!("fine\nFIX", "ME")), &[concat!("a.md: unfinished: line 2: FIX", "ME")]);
    check(of("a.toml", concat!("path = \"/ro", "ot/a\"")), &["a.toml: machine-path: line 1"]);
    check(of("a.rs", concat!("fn a() { b.unw", "rap() }")), &["a.rs: unwrap: near line 1"]);
    check(of("a.rs", concat!("// b.unw", "rap()\nfn a() { b.unwrap_or(c) }")), &[]);
    check(of("a/tests/b.rs", concat!("fn a() { b.unw", "rap() }")), &[]);
    check(of("a.rs", concat!("#[cfg(test)]\nmod tests { fn a() { b.unw", "rap() } }")), &[]);
}

#[test]
fn workflows_have_few_rights_an_end_and_one_version_of_each_action() {
    let of = |texts: &[(&str, &str)]| workflows::check(&Sources::of(texts));
    let sound = "name: a\npermissions:\n  contents: read\nconcurrency: a\njobs:\n  one:\n    timeout-minutes: 5\n    steps:\n      \
                 - uses: actions/checkout@v6\n        with:\n          persist-credentials: false\n      - run: b\n";
    check(of(&[(".github/workflows/a.yml", sound)]), &[]);
    let bare = "name: a\njobs:\n  one:\n    steps:\n      - uses: actions/checkout@v6\n      - run: b\n  two:\n    timeout-minutes: 5\n";
    check(
        of(&[(".github/workflows/a.yml", bare)]),
        &[
            ".github/workflows/a.yml: workflow: says nothing of permissions:",
            ".github/workflows/a.yml: workflow: says nothing of concurrency:",
            ".github/workflows/a.yml: workflow: job without timeout-minutes: one",
            ".github/workflows/a.yml: workflow: a checkout that leaves its credentials",
        ],
    );
    let made =
        "# This file was autogenerated by a tool\njobs:\n  one:\n    steps:\n      - uses: actions/checkout@v4\n";
    check(
        of(&[(".github/workflows/a.yml", sound), (".github/workflows/b.yml", made)]),
        &[".github/workflows/b.yml: workflow: another version elsewhere: actions/checkout@v4"],
    );
}

#[test]
fn documents_keep_their_promises() {
    let missing = |found: Vec<super::Finding>| -> Vec<super::Finding> {
        found.into_iter().filter(|finding| finding.rule != "missing").collect()
    };
    let of = |texts: &[(&str, &str)]| missing(docs::check(&Sources::of(texts)));
    check(
        of(&[("docs/a.md", "[b](b.md) [c](https://example.org/c) [d](#d)")]),
        &["docs/a.md: link: leads nowhere: b.md"],
    );
    check(of(&[("docs/a.md", "[b](../b.md#c) [c](../crates)"), ("b.md", ""), ("crates/d.rs", "")]), &[]);
    check(
        of(&[("a.rs", "const A: &str = \"docs/errors/E1.md\";")]),
        &["a.rs: error-page: names a page that is not there: docs/errors/E1.md"],
    );
    let exits = "Exit::Done => 0,\n Exit::Held => 3,";
    check(
        of(&[("apps/a/src/exit.rs", exits)]),
        &["apps/a/src/exit.rs: error-page: names a page that is not there: docs/errors/a-3.md"],
    );
    check(of(&[("apps/a/src/exit.rs", exits), ("docs/errors/a-3.md", "held")]), &[]);
    check(of(&[("a.rs", "format!(\"docs/errors/a-{code}.md\")"), ("docs/errors/a-3.md", "held")]), &[]);
    check(of(&[("docs/errors/E2.md", "E2")]), &["docs/errors/E2.md: error-page: no source and no index names it"]);
    check(of(&[("docs/errors/E2.md", "E2"), ("docs/errors/README.md", "[E2](E2.md)")]), &[]);
    check(
        of(&[("examples/servers/Cargo.toml", "[[bin]]\nname = \"calm\"\n"), ("examples/README.md", "nothing")]),
        &["examples/README.md: example: does not name calm"],
    );
    let needed = docs::check(&Sources::default());
    assert!(needed.iter().any(|finding| finding.place == "SECURITY.md"), "{needed:?}");
}

const TABLE: &str = "# x\n\n## Arrows\n\n| level | crate | may use |\n| --- | --- | --- |\n\
    | L0 | protocol | – |\n| L0 | testkit | – |\n| L1 | gate | protocol |\n| L2 | hub | gate |\n| L2 planned | lock | gate, hub (peer) |\n";

fn member(name: &str, uses: &[(&str, When)]) -> Member {
    let uses = uses.iter().map(|(of, when)| Use { of: (*of).to_owned(), when: *when }).collect();
    Member { name: name.to_owned(), uses, features: 0 }
}

fn house(gate: &[(&str, When)], hub: &[(&str, When)]) -> Vec<Member> {
    vec![member("protocol", &[]), member("testkit", &[]), member("gate", gate), member("hub", hub)]
}

#[test]
fn arrows_are_the_tables() {
    let fine = house(&[("protocol", When::Always)], &[("gate", When::Always), ("testkit", When::Tests)]);
    check(arrows::check(TABLE, &fine), &[]);
    check(
        arrows::check(TABLE, &house(&[("hub", When::Always)], &[("gate", When::Always)])),
        &["gate: arrows: uses hub, which the table does not allow"],
    );
    check(
        arrows::check(TABLE, &house(&[], &[("testkit", When::Always), ("gate", When::Always)])),
        &["hub: arrows: uses testkit, which the table does not allow"],
    );
    check(
        arrows::check(TABLE, &house(&[("hub", When::Tests)], &[])),
        &["gate: arrows: uses hub, which the table does not allow", "hub: arrows: may use gate, but does not"],
    );
    let mut stranger = fine.clone();
    stranger.push(member("new", &[]));
    check(arrows::check(TABLE, &stranger), &["new: arrows: has no row in the table"]);
    check(arrows::check(TABLE, &fine[..3]), &["hub: arrows: has a row, but no folder"]);
    let mut early = fine;
    early.push(member("lock", &[("gate", When::Always), ("hub", When::Always)]));
    check(arrows::check(TABLE, &early), &["lock: arrows: is here, the table says planned"]);
}

#[test]
fn the_table_itself_is_judged() {
    check(arrows::check("# nothing", &[]), &["docs/ARCHITECTURE.md: arrows: has no section: Arrows"]);
    check(arrows::check("\n## Arrows\n", &[]), &["docs/ARCHITECTURE.md: arrows: has no rows under: Arrows"]);
    check(
        arrows::check("\n## Arrows\n| L0 | a |\n", &[]),
        &["docs/ARCHITECTURE.md: arrows: has a row of 2 cells: | L0 | a |"],
    );
    let upward = "\n## Arrows\n| L0 planned | a | b |\n| L1 planned | b | c, testkit |\n| L0 planned | testkit | – |\n";
    check(
        arrows::check(upward, &[]),
        &[
            "a: arrows: the arrow to b does not point down",
            "b: arrows: points to c, which has no row",
            "b: arrows: testkit is for tests only",
        ],
    );
    let ladder: String = (1..7).map(|at| format!("| L{at} planned | c{at} | c{} |\n", at - 1)).collect();
    let deep = format!("\n## Arrows\n| L0 planned | c0 | – |\n{ladder}");
    check(arrows::check(&deep, &[]), &["c6: depth: 6, at most 5"]);
}

#[test]
fn features_and_dependencies_are_counted() {
    let rich = Member { features: 4, ..member("a", &[]) };
    let entries: String = (0..51).map(|at| format!("d{at} = \"1\"\n")).collect();
    let manifest = format!("[workspace.dependencies]\nours = {{ path = \"a\" }}\n{entries}");
    let found = members::check(&[rich], &manifest).expect("the manifest parses");
    check(found, &["a: features: 4, at most 3", "Cargo.toml: dependencies: 51, at most 50"]);
}

#[test]
fn exceptions_are_reasoned_and_needed() {
    let apply = |text: &str| {
        let allowed = Allowed::parse(text).expect("the list parses");
        allowed.apply(vec![super::Finding::sized("a.rs:b", "function", 70, 60)])
    };
    let line = |max: usize, reason: &str| {
        format!("[[allow]]\nrule = \"function\"\nplace = \"a.rs:b\"\nmax = {max}\nreason = \"{reason}\"\n")
    };
    check(apply(""), &["a.rs:b: function: 70, at most 60"]);
    check(apply(&line(70, "one flat match over kinds")), &[]);
    check(
        apply(&line(69, "one flat match over kinds")),
        &["a.rs:b: function: 70, at most 60", "a.rs:b: allow: the exception for `function` is not needed"],
    );
    check(apply(&line(70, "long")), &["a.rs:b: allow: the exception for `function` gives no reason"]);
    assert!(Allowed::parse("[[allow]]\nrule = \"x\"\n").is_err());
}

#[test]
fn a_bad_workspace_is_not_tidy() {
    let house = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = house.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder above")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let package = "[package]\nname = \"x-gate\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n");
    write("crates/gate/Cargo.toml", package);
    write("crates/gate/src/lib.rs", concat!("pub fn a() { b.unw", "rap() }\n"));
    write("target/made.rs", concat!("// TO", "DO by a tool"));
    write("docs/ARCHITECTURE.md", TABLE);
    let found: Vec<String> = look(house.path()).expect("it can be read").iter().map(ToString::to_string).collect();
    for expected in [
        "crates/gate/src/lib.rs: header: does not open with a `//!` line that says what it is for",
        "crates/gate/src/lib.rs: unwrap: near line 1",
        "protocol: arrows: has a row, but no folder",
        "hub: arrows: has a row, but no folder",
        "README.md: missing: what it is, and the two commands",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected} is not among {found:#?}");
    }
    assert!(!found.iter().any(|line| line.contains("target/")), "{found:#?}");
}

#[test]
fn this_workspace_is_tidy() {
    let found = look(&crate::sh::root()).expect("the workspace can be read");
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "not tidy:\n{}", lines.join("\n"));
}
