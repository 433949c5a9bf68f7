//! Folders and archives: what is found in them, and what is refused by its name.

use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::{PermissionsExt, symlink};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};
use tempfile::tempdir;
use tenon_skills::SkillSource;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const MANIFEST: &[u8] = b"---\nname: a\ndescription: b\n---\nText\n";

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in entries {
        let mode = if path.ends_with(".sh") { 0o755 } else { 0o644 };
        writer
            .start_file(*path, SimpleFileOptions::default().unix_permissions(mode))
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Paths are written as they are: `tar`'s own builder would not take bad ones.
fn tar_gz(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, kind, bytes) in entries {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(if path.ends_with(".sh") { 0o755 } else { 0o644 });
        header.set_size(bytes.len() as u64);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], expected: &str) {
    let error = SkillSource::from_bytes(name, bytes)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(expected),
        "{error}\ndoes not contain\n{expected}"
    );
}

#[test]
fn one_skill_is_the_same_from_a_folder_and_from_every_archive() {
    let folder = tempdir().unwrap();
    let skill = folder.path().join("a");
    fs::create_dir_all(skill.join(".git")).unwrap();
    fs::write(skill.join(".git/config"), "x").unwrap();
    fs::write(skill.join("SKILL.md"), MANIFEST).unwrap();
    fs::create_dir(skill.join("scripts")).unwrap();
    fs::write(skill.join("scripts/x.sh"), "echo").unwrap();
    fs::set_permissions(
        skill.join("scripts/x.sh"),
        fs::Permissions::from_mode(0o700),
    )
    .unwrap();
    let from_folder = SkillSource::open(&skill).unwrap();
    let zip = zip(&[("a/SKILL.md", MANIFEST), ("a/scripts/x.sh", b"echo")]);
    let tar = tar_gz(&[
        ("./", EntryType::Directory, b""),
        ("./SKILL.md", EntryType::Regular, MANIFEST),
        ("./scripts/x.sh", EntryType::Regular, b"echo"),
    ]);
    let from_zip = SkillSource::from_bytes("a.skill", &zip).unwrap();
    let from_tar = SkillSource::from_bytes("a.tgz", &tar).unwrap();
    for source in [&from_folder, &from_zip, &from_tar] {
        let paths: Vec<_> = source.skills[0]
            .files
            .iter()
            .map(|(path, file)| (path, file.is_executable))
            .collect();
        assert_eq!(paths, [("SKILL.md", false), ("scripts/x.sh", true)]);
        assert_eq!(source.skills[0].package, from_folder.skills[0].package);
    }
    let target = folder.path().join("installed");
    from_zip.skills[0].files.write_to(&target).unwrap();
    let mode = |path: &str| {
        fs::metadata(target.join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!((mode("SKILL.md"), mode("scripts/x.sh")), (0o644, 0o755));
    assert_eq!(
        SkillSource::open(&target).unwrap().skills[0].package.hash,
        from_folder.skills[0].package.hash
    );
    // A second time nothing is overwritten.
    assert!(from_zip.skills[0].files.write_to(&target).is_err());
    let single = SkillSource::from_bytes("SKILL.md", MANIFEST).unwrap();
    assert_eq!(single.skills[0].package.name, "a");
}

#[test]
fn several_skills_are_found_and_a_bad_one_keeps_no_other_out() {
    let archive = zip(&[
        ("repo-main/README.md", b"# Skills"),
        (
            "repo-main/skills/one/SKILL.md",
            b"---\ndescription: x\n---\n",
        ),
        ("repo-main/skills/one/inner/SKILL.md", MANIFEST),
        ("repo-main/plugins/p/skills/two/SKILL.md", MANIFEST),
        ("repo-main/skills/bad/SKILL.md", b"no front matter"),
    ]);
    let source = SkillSource::from_bytes("repo.zip", &archive).unwrap();
    let found: Vec<_> = source
        .skills
        .iter()
        .map(|skill| (skill.folder.as_str(), skill.package.name.as_str()))
        .collect();
    assert_eq!(
        found,
        [("plugins/p/skills/two", "a"), ("skills/one", "one")]
    );
    assert_eq!(source.refused[0].folder, "skills/bad");
    assert_eq!(source.refused[0].error.line, Some(1));
    refused(
        "x.zip",
        &zip(&[("README.md", b"")]),
        "x.zip: There is no SKILL.md in it",
    );
    refused("x.pdf", b"%PDF", "x.pdf: This is neither a folder");
}

#[test]
fn of_two_skills_with_one_name_the_second_is_refused() {
    let archive = zip(&[
        ("one/SKILL.md", b"---\nname: same\ndescription: x\n---\n"),
        ("two/SKILL.md", b"---\nname: same\ndescription: y\n---\n"),
    ]);
    let source = SkillSource::from_bytes("both.zip", &archive).unwrap();
    let found: Vec<_> = source.skills.iter().map(|skill| &skill.folder).collect();
    assert_eq!(found, ["one"]);
    let [refused] = &source.refused[..] else {
        panic!("{:?}", source.refused)
    };
    assert_eq!(refused.folder, "two");
    let said = refused.error.to_string();
    assert!(
        said.contains("The skill in `one` is called `same` already"),
        "{said}"
    );
}

#[test]
fn what_leads_outside_is_refused_by_its_name() {
    for path in [
        "../evil",
        "a/../../evil",
        "/etc/evil",
        "a\\..\\evil",
        "a//b",
        "a/./b",
    ] {
        let expected = format!("{path}: The path is absolute or leads out of the folder");
        refused(
            "x.zip",
            &zip(&[("SKILL.md", MANIFEST), (path, b"x")]),
            &expected,
        );
        let entries = [
            ("SKILL.md", EntryType::Regular, MANIFEST),
            (path, EntryType::Regular, b"x" as &[u8]),
        ];
        refused("x.tgz", &tar_gz(&entries), &expected);
    }
    for (kind, expected) in [
        (EntryType::Symlink, "link: It is a link"),
        (EntryType::Link, "link: It is a link"),
        (EntryType::Char, "link: It is neither a file nor a folder"),
        (EntryType::Fifo, "link: It is neither a file nor a folder"),
    ] {
        refused(
            "x.tgz",
            &tar_gz(&[
                ("SKILL.md", EntryType::Regular, MANIFEST),
                ("link", kind, b""),
            ]),
            expected,
        );
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .add_symlink("link", "/etc/passwd", SimpleFileOptions::default())
        .unwrap();
    refused(
        "x.zip",
        &writer.finish().unwrap().into_inner(),
        "link: It is a link",
    );
}

#[test]
fn duplicates_and_bombs_are_refused() {
    let twice = [
        ("SKILL.md", EntryType::Regular, MANIFEST),
        ("./SKILL.md", EntryType::Regular, MANIFEST),
    ];
    refused("x.tgz", &tar_gz(&twice), "SKILL.md: It is there twice");
    refused(
        "x.zip",
        &zip(&[("a", b""), ("a/b", b"")]),
        "a/b: It is there twice",
    );
    let zeros = vec![0; 30 * 1024 * 1024];
    refused(
        "x.zip",
        &zip(&[("SKILL.md", MANIFEST), ("zeros", &zeros)]),
        "zeros: It unpacks to more than 200 times its size",
    );
    refused(
        "x.tgz",
        &tar_gz(&[("zeros", EntryType::Regular, &zeros)]),
        "zeros: It unpacks to more than 200 times its size",
    );
    let many: Vec<String> = (0..4001).map(|number| format!("f{number}")).collect();
    let many: Vec<(&str, &[u8])> = many
        .iter()
        .map(|path| (path.as_str(), b"" as &[u8]))
        .collect();
    refused("x.zip", &zip(&many), "There are more than 4000 files");
    refused(
        "x.zip",
        b"PK\x03\x04nothing",
        "x.zip: The archive cannot be read",
    );
    let whole = zip(&[("SKILL.md", MANIFEST)]);
    for end in 2..whole.len() {
        assert!(SkillSource::from_bytes("x.zip", &whole[..end]).is_err());
    }
}

#[test]
fn links_of_a_folder_are_not_followed() {
    let folder = tempdir().unwrap();
    let skill = folder.path().join("skills/a");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), MANIFEST).unwrap();
    symlink(&skill, folder.path().join("also")).unwrap();
    let source = SkillSource::open(folder.path()).unwrap();
    assert_eq!(source.skills.len(), 1);
    symlink("/etc/passwd", skill.join("passwords")).unwrap();
    let source = SkillSource::open(folder.path()).unwrap();
    assert_eq!(
        source.refused[0].error.to_string(),
        "passwords: It is a link: pack the file itself."
    );
    assert!(SkillSource::open(&folder.path().join("nowhere")).is_err());
}
