//! What holds for one file: the flags, then the configuration, then the defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::ValueEnum;

use crate::cli::arguments::{
    Assume, ContextArguments, Facts, HostArguments, OutputArguments, PassArguments, Resources, VerifyLevel,
};
use crate::cli::compiler_flags::{CompilerFlags, Database};
use crate::cli::config::{self, Config, Verify};
use crate::cli::passes::Passes;
use crate::cli::tuned::TunedKernel;
use crate::cli::{device, pipeline, tuned, verify};
use crate::context::PipelineOptions;
use crate::device::DeviceProfile;
use crate::engine::Changed;
use crate::plan::Pass;
use crate::plan::instructions::Instructions;
use crate::validate::host::{DatabaseSource, Program};

/// What holds for one file.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Do plans say what they were made by?
    pub explain: bool,
    /// Kernels that were tuned, by the hashes of their loops.
    pub tuned: BTreeMap<String, TunedKernel>,
    /// What is told of kernels in the place of what passes choose.
    pub instructions: Arc<Instructions>,
    /// What was accepted before in the same review.
    pub earlier: Vec<Changed>,
    /// The passes to run.
    pub passes: Passes,
    /// Are edits written that rest on an assumption?
    pub assume: bool,
    /// Are edits written that form floating-point sums, minima and maxima in another order?
    pub reassociate: bool,
    /// How many iterations a loop is assumed to have where the text does not tell.
    pub assumed_iterations: u32,
    /// How many bytes of the device's memory data may take that stay on it.
    pub device_memory: Option<u64>,
    /// Are both forms written where the lengths of loops decide which is faster?
    pub versioned: bool,
    /// Are written grids that are far off on the device replaced?
    pub retune: bool,
    /// How pipelines are written.
    pub pipeline: PipelineOptions,
    /// The device that grids are chosen for.
    pub device: Option<DeviceProfile>,
    /// The ranges of lines to look at; all where empty.
    pub lines: Vec<(usize, usize)>,
    /// Files and folders whose functions may be looked up.
    pub sources: Vec<PathBuf>,
    /// Folders in which `#include ".."` is looked up, after the including file's own.
    pub include_dirs: Vec<PathBuf>,
    /// Whose types and names the decisions rest on.
    pub facts: Facts,
    /// Who counts the registers that a grid is chosen by.
    pub resources: Resources,
    /// How the file is compiled.
    pub compiler: CompilerFlags,
    /// The `compile_commands.json` that was found without being named, where it has the file's flags.
    pub found_database: Option<PathBuf>,
    /// What is checked before a result is written.
    pub verify: VerifyLevel,
    /// The program that the file belongs to, for `--verify host`.
    pub host: Program,
    /// Does a refusal make the exit status 1?
    pub error_on_refusal: bool,
    /// Is the file left alone if it has uncommitted changes?
    pub require_clean: bool,
    /// The folder that `ompsplit_pin.h` is written to, where the user names one.
    pub write_header: Option<PathBuf>,
}

/// Finds the settings of each file; configuration files and databases are read once.
pub(super) struct Resolver<'a> {
    context: &'a ContextArguments,
    passes: &'a PassArguments,
    output: &'a OutputArguments,
    host: &'a HostArguments,
    configs: Mutex<BTreeMap<PathBuf, Result<Config, String>>>,
    devices: Mutex<BTreeMap<PathBuf, Result<DeviceProfile, String>>>,
    databases: Mutex<BTreeMap<PathBuf, Result<Database, String>>>,
    /// The databases that were found, by the folder of a source file.
    found: Mutex<BTreeMap<PathBuf, Result<Option<PathBuf>, String>>>,
}

impl<'a> Resolver<'a> {
    /// Takes the flags of the run.
    pub(super) fn new(
        context: &'a ContextArguments,
        passes: &'a PassArguments,
        output: &'a OutputArguments,
        host: &'a HostArguments,
    ) -> Self {
        let (configs, devices, databases, found) = Default::default();
        Self { context, passes, output, host, configs, devices, databases, found }
    }

    /// The configuration file of a source file.
    pub(super) fn config_path(&self, file: &Path) -> Result<Option<PathBuf>, String> {
        match (&self.context.config, self.context.no_config) {
            (_, true) => Ok(None),
            (Some(path), false) => Ok(Some(path.clone())),
            (None, false) => config::nearest(file),
        }
    }

    /// The settings of a file.
    pub(super) fn settings(&self, file: &Path) -> Result<Settings, String> {
        let config = self.config(file)?;
        let compiler = self.compiler(file, &config)?;
        let found_database = self.found_database(file, &config).filter(|_| !compiler.flags.is_empty());
        let says = |what: Assume| self.passes.assume.contains(&what);
        let reassociate = says(Assume::Reassociation) || config.reassociation.unwrap_or(false);
        let passes = match (&self.passes.passes, &config.passes) {
            (Some(names), _) => Passes::named(names.split(','))?,
            (None, Some(names)) => Passes::named(names.iter().map(String::as_str))?,
            (None, None) if reassociate => Passes::by_default().with(Pass::Reduce),
            (None, None) => Passes::by_default(),
        };
        let device = self.device(&config)?;
        let retune = self.passes.retune || config.retune.unwrap_or(false);
        if retune && device.is_none() {
            return Err("`--retune` needs a device to judge grids by: give `--device`".to_owned());
        }
        let pipeline = self.passes.pipeline.options(&config)?;
        let mut include_dirs = compiler.quote_dirs();
        let verify = config.verify.as_ref();
        let host = verify.map(Verify::host).unwrap_or_default();
        let flags_of = |source: &Path| self.compiler(source, &config).map(|compiler| compiler.flags);
        let level = self.output.verify.map_or_else(|| verify_level(verify.and_then(Verify::level)), Ok)?;
        let database = if level == VerifyLevel::Host { self.database_sources(file, &config)? } else { None };
        let host = verify::program(database, host, self.host, flags_of)?;
        include_dirs.extend(config.include_dirs);
        Ok(Settings {
            explain: false,
            tuned: config.tuned.clone(),
            instructions: Arc::new(tuned::instructions(&config.tuned)),
            earlier: Vec::new(),
            passes,
            assume: says(Assume::Stated) || config.assume.unwrap_or(false),
            reassociate,
            assumed_iterations: self
                .passes
                .assumed_iterations
                .or(config.assumed_iterations)
                .unwrap_or(crate::context::ASSUMED_ITERATIONS),
            device_memory: self.passes.device_memory.or(config.device_memory),
            versioned: self.passes.versioned || config.versioned.unwrap_or(false),
            retune,
            pipeline,
            device,
            lines: self.passes.lines.clone(),
            sources: config.sources,
            include_dirs,
            facts: self.passes.facts.map_or_else(|| facts(config.facts.as_deref()), Ok)?,
            resources: self.passes.resources.map_or_else(|| resources(config.resources.as_deref()), Ok)?,
            compiler,
            found_database,
            verify: level,
            host,
            error_on_refusal: self.output.error_on_refusal || config.error_on_refusal.unwrap_or(false),
            require_clean: config.require_clean.unwrap_or(false),
            write_header: self.output.write_header.clone().or(config.write_header),
        })
    }

    /// The settings of a file as a configuration file that says the same.
    pub(super) fn dump(&self, file: &Path) -> Result<String, String> {
        let mut config = self.config(file)?;
        let settings = self.settings(file)?;
        config.passes = Some(settings.passes.passes.names().into_iter().map(str::to_owned).collect());
        config.assume = Some(settings.assume);
        config.reassociation = Some(settings.reassociate);
        config.assumed_iterations = Some(settings.assumed_iterations);
        config.device_memory = settings.device_memory;
        config.versioned = Some(settings.versioned);
        config.retune = Some(settings.retune);
        pipeline::dump(settings.pipeline, &mut config);
        config.facts = settings.facts.to_possible_value().map(|value| value.get_name().to_owned());
        config.resources = settings.resources.to_possible_value().map(|value| value.get_name().to_owned());
        config.error_on_refusal = Some(settings.error_on_refusal);
        config.require_clean = Some(settings.require_clean);
        config.write_header = settings.write_header;
        let level = settings.verify.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        config.verify = Some(config.verify.unwrap_or_else(|| Verify::Level(String::new())).with_level(level));
        config.compile_commands = self.database_path(file, &config);
        config.flags.extend(self.context.compiler_flags());
        config.device = self.passes.device.clone().or(config.device);
        let origin = self.config_path(file)?.map_or_else(|| "no configuration file".to_owned(), show);
        let text = toml::to_string(&config).map_err(|error| error.to_string())?;
        Ok(format!("# {origin}\n{text}"))
    }

    fn config(&self, file: &Path) -> Result<Config, String> {
        let Some(path) = self.config_path(file)? else { return Ok(Config::default()) };
        cached(&self.configs, path, Config::read)
    }

    /// The device that the flag or the configuration names; found once for each name.
    fn device(&self, config: &Config) -> Result<Option<DeviceProfile>, String> {
        let Some(name) = self.passes.device.as_ref().or(config.device.as_ref()) else { return Ok(None) };
        cached(&self.devices, PathBuf::from(name), |_| device::find(name)).map(Some)
    }

    /// The sources in the database, with all flags, where there is one.
    fn database_sources(&self, file: &Path, config: &Config) -> Result<Option<Vec<DatabaseSource>>, String> {
        let Some(path) = self.database_path(file, config) else { return Ok(None) };
        let mut sources = cached(&self.databases, path, Database::read)?.sources();
        for entry in &mut sources {
            entry.source.flags.extend(config.flags.iter().cloned().chain(self.context.compiler_flags()));
        }
        Ok(Some(sources))
    }

    /// The flags of the database, then those of the configuration, then those of the command line.
    fn compiler(&self, file: &Path, config: &Config) -> Result<CompilerFlags, String> {
        let mut compiler = match self.database_path(file, config) {
            Some(path) => cached(&self.databases, path, Database::read)?.flags(file),
            None => CompilerFlags::default(),
        };
        compiler.flags.extend(config.flags.iter().cloned().chain(self.context.compiler_flags()));
        Ok(compiler)
    }

    /// The database that is named, or else the one that is found.
    fn database_path(&self, file: &Path, config: &Config) -> Option<PathBuf> {
        let named = self.context.compile_commands.as_ref().or(config.compile_commands.as_ref());
        named.cloned().or_else(|| self.found_database(file, config))
    }

    /// The database in the usual places above a file. Whoever gives flags behind `--`, or wants no configuration, wants no other flags;
    /// `-I` and `-D` add to those that are found.
    fn found_database(&self, file: &Path, config: &Config) -> Option<PathBuf> {
        let is_named = self.context.compile_commands.is_some() || config.compile_commands.is_some();
        let has_flags = !config.flags.is_empty() || !self.context.flags.is_empty();
        if is_named || has_flags || self.context.no_config {
            return None;
        }
        let folder = std::path::absolute(file).ok()?.parent()?.to_path_buf();
        let find = |folder: &Path| {
            let found = Database::above(folder);
            Ok(found.filter(|path| cached(&self.databases, path.clone(), Database::read).is_ok()))
        };
        cached(&self.found, folder, find).ok().flatten()
    }
}

/// What `read` says of a path, asked once.
fn cached<T: Clone>(
    cache: &Mutex<BTreeMap<PathBuf, Result<T, String>>>,
    path: PathBuf,
    read: impl FnOnce(&Path) -> Result<T, String>,
) -> Result<T, String> {
    let mut cache = cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    cache.entry(path).or_insert_with_key(|path| read(path)).clone()
}

fn show(path: PathBuf) -> String {
    path.display().to_string()
}

fn facts(name: Option<&str>) -> Result<Facts, String> {
    name.map_or(Ok(Facts::Tree), |name| value_named(name, "source of facts"))
}

fn resources(name: Option<&str>) -> Result<Resources, String> {
    name.map_or(Ok(Resources::Estimate), |name| value_named(name, "source of resources"))
}

fn verify_level(name: Option<&str>) -> Result<VerifyLevel, String> {
    name.map_or(Ok(VerifyLevel::None), |name| value_named(name, "verify level"))
}

/// The value of a flag that a configuration names.
pub(super) fn value_named<T: ValueEnum>(name: &str, what: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let known: Vec<_> = T::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        let hint = crate::cli::suggest::hint(name, known.iter().map(|value| value.get_name()));
        format!("there is no {what} `{name}`{hint}")
    })
}
