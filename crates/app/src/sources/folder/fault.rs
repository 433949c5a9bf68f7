//! Why the servers of a file are not run, as codes.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FileFault {
        Unread { file, why } = "file_unread" => "{file} cannot be read. {why}",
        NotUtf8 = "file_not_utf8" => "It is not text in UTF-8.",
        System { said } = "file_system_error" => "The system says: {said}.",
        NotStored = "file_document_not_stored" => "Its document cannot be kept.",
        Writable { file, folder } = "file_writable" => "{file} is not run, because other users of this machine may write to it: `chmod go-w {folder}/{file}`.",
        FolderWritable { file, folder } = "file_folder_writable" => "{file} is not run, because other users of this machine may write to the folder it is in: `chmod go-w {folder}`.",
        TargetWritable { file, folder } = "file_target_writable" => "{file} is not run, because it is a link, and other users of this machine may write to the folder it leads to: `chmod go-w` that one, or put the file itself into {folder}.",
        Foreign { file, folder } = "file_foreign" => "{file} is not run, because it belongs to another user of this machine: `chown` {folder}/{file} to the user Tenon runs as.",
        FolderForeign { file } = "file_folder_foreign" => "{file} is not run, because the folder it is in belongs to another user of this machine: `chown` it to the user Tenon runs as.",
    }
}
