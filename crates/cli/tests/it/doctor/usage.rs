//! What is asked the wrong way.

use super::run;

#[test]
fn wrong_use_is_refused_and_no_key_is_repeated() {
    let check = |arguments: &[&str], expected: &str| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("s3cret"), "{said}");
    };
    check(&[], "<URL>");
    check(&["ftp://localhost"], "only http:// and https:// are asked");
    check(&["http://a:s3cret@localhost"], "use --header");
    check(
        &["8000", "--origin", "file:///x"],
        "--origin cannot be used",
    );
    check(&["8000", "--header", "s3cret"], "write it as 'Name: value'");
    check(
        &["8000", "--header", "Cookie: s3cret"],
        "a page cannot send cookie",
    );
    check(&["8000", "--header", "a b: s3cret"], "no name of a header");
}
