//! Neovim's own client, without a screen.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{SPLITS, rewritten};

/// Starts the server for a buffer, waits for what it says, applies all it offers, and writes down what was seen.
const SCRIPT: &str = r#"
local seen = {}
local client = vim.lsp.start_client({
  name = 'ompsplit', cmd = { vim.env.OMPSPLIT, 'server' }, root_dir = vim.fn.getcwd(),
  init_options = { passes = { 'split' } },
})
vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.TEXT))
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, client)
vim.wait(30000, function() return #vim.diagnostic.get(buffer) > 0 end, 20)
seen.diagnostics = vim.tbl_map(function(d) return { d.lnum, d.col, d.message } end, vim.diagnostic.get(buffer))
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 30000)
  return answers[client].result
end
vim.api.nvim_win_set_cursor(0, { 3, 0 })
seen.hover = ask('textDocument/hover', vim.lsp.util.make_position_params())
local range = vim.lsp.util.make_range_params()
range.context = { diagnostics = {}, only = { 'source.fixAll' } }
local actions = ask('textDocument/codeAction', range)
seen.title = actions[1].title
vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
seen.lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
vim.cmd('silent write')
vim.wait(30000, function() return #vim.diagnostic.get(buffer) == 0 end, 20)
seen.left = #vim.diagnostic.get(buffer)
vim.fn.writefile({ vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen) }, vim.env.SEEN)
vim.lsp.stop_client(client)
vim.cmd('qall!')
"#;

#[test]
fn neovim_shows_what_is_said_and_applies_what_is_offered() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = format!("// é 😀\n{SPLITS}");
    let expected = rewritten(folder.path(), "a b.c", &text, &["--passes", "split"]);
    fs::write(path("script.lua"), SCRIPT).unwrap();
    let mut command = Command::new("nvim");
    command.args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"]).arg("luafile script.lua");
    command.current_dir(folder.path()).env("OMPSPLIT", env!("CARGO_BIN_EXE_ompsplit"));
    command.env("TEXT", path("a b.c")).env("SEEN", path("seen.json")).stdin(Stdio::null());
    let output = command.output().unwrap_or_else(|error| panic!("nvim (install it as .ci/test does): {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let seen = fs::read_to_string(path("seen.json")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!((&seen["diagnostics"][0][0], &seen["diagnostics"][0][1]), (&2.into(), &0.into()), "{seen}");
    assert!(seen["diagnostics"][0][2].as_str().unwrap().starts_with("split into 2 kernels"), "{seen}");
    assert!(seen["hover"]["contents"]["value"].as_str().unwrap().contains("split: applied, safe"), "{seen}");
    assert_eq!(seen["title"], "Rewrite all constructs for the device");
    let lines: Vec<&str> = expected.lines().collect();
    assert_eq!(seen["lines"], serde_json::json!(lines));
    assert_eq!(fs::read_to_string(path("a b.c")).unwrap(), expected);
    assert_eq!(seen["left"], 0, "{seen}");
}
