//! Temporary folders.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder that is removed when the test ends. If it fails, the folder stays, and its name is printed.
pub struct Scratch(Option<tempfile::TempDir>);

impl Scratch {
    /// An empty folder.
    pub fn new() -> Scratch {
        let folder = tempfile::Builder::new().prefix("leno-test-").tempdir().expect("a temporary folder can be made");
        Scratch(Some(folder))
    }

    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch::new();
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), |folder| folder.path())
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file, and gives its path.
    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take().filter(|_| std::thread::panicking()) {
            eprintln!("the files of this test are in {}", folder.keep().display());
        }
    }
}
