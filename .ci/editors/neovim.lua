-- Neovim 0.11 without a screen: the server as docs/usage.md starts it, and conform.nvim where its source is given.

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('a')
  file:close()
  return text
end
local expected = vim.split(read(vim.env.EXPECTED):gsub('\n$', ''), '\n')

local function check(what, is_right)
  if not is_right then
    io.stderr:write('failed: ' .. what .. '\n')
    vim.cmd('cquit 1')
  end
end
local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

-- As docs/usage.md says.
vim.lsp.config('ompsplit', {
  cmd = { 'ompsplit', 'server' }, filetypes = { 'c', 'cpp' }, root_markers = { '.ompsplit.toml', '.git' },
  init_options = {},
})
vim.lsp.enable('ompsplit')
vim.cmd('filetype on')
vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.SCRATCH .. '/neovim.c'))
check('diagnostics come', vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20))
check('they say what is done', vim.diagnostic.get(0)[1].message:match('split into'))
vim.lsp.buf.format({ timeout_ms = 60000 })
check('the server formats', vim.deep_equal(lines(), expected))

-- As grammar/README.md says: a directive is coloured by its own grammar.
vim.opt.runtimepath:prepend(vim.env.CONFIG)
vim.opt.runtimepath:append(vim.env.CONFIG .. '/after')
vim.cmd('edit! ' .. vim.fn.fnameescape(vim.env.TEXT))
vim.treesitter.start(0, 'c')
vim.treesitter.get_parser(0):parse(true)
local row = vim.fn.search('pragma omp target', 'cw') - 1
local column = lines()[row + 1]:find('target') - 1
local seen = {}
for _, one in ipairs(vim.treesitter.get_captures_at_pos(0, row, column)) do
  seen[one.lang .. ' ' .. one.capture] = true
end
check('the grammar colours directives', seen['openmp keyword'])

if vim.env.PLUGINS and vim.env.PLUGINS ~= '' then
  vim.opt.runtimepath:append(vim.env.PLUGINS .. '/conform.nvim')
  vim.lsp.enable('ompsplit', false)
  -- As docs/usage.md says.
  require('conform').setup({
    formatters = {
      ompsplit = { command = 'ompsplit', args = { '-', '--quiet', '--stdin-filename', '$FILENAME' } },
    },
    formatters_by_ft = { c = { 'ompsplit' }, cpp = { 'ompsplit' } },
    format_on_save = { timeout_ms = 10000, lsp_format = 'never' },
  })
  vim.cmd('edit! ' .. vim.fn.fnameescape(vim.env.SCRATCH .. '/conform.c'))
  vim.cmd('silent write!')
  check('conform.nvim formats on save', vim.deep_equal(lines(), expected))
  check('the file has it', vim.deep_equal(vim.fn.readfile(vim.env.SCRATCH .. '/conform.c'), expected))
end
print('neovim is content\n')
vim.cmd('qall!')
