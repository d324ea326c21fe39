-- Neovim attaches to `saltus lsp`, sees a diagnostic, hovers, renames and writes: nvim --headless -u NONE -l is too new for Debian's,
-- so this is run with `nvim --headless -u NONE -c "luafile neovim.lua"`. SALTUS names the program, FOLDER a folder with M.mo.
local function fail(text)
  io.stderr:write("neovim: " .. text .. "\n")
  vim.cmd("cquit 1")
end

local function wait(what, condition)
  if not vim.wait(60000, condition, 20) then fail("no " .. what) end
end

local folder = vim.env.FOLDER
local logged = {}
vim.lsp.handlers["window/logMessage"] = function(_, result) table.insert(logged, result.message) end
vim.cmd("edit " .. folder .. "/M.mo")
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({ name = "saltus", cmd = { vim.env.SALTUS, "lsp" }, root_dir = folder })
if not client then fail("client") end
vim.lsp.buf_attach_client(buffer, client)
wait("attached client", function()
  local found = vim.lsp.get_client_by_id(client)
  return found ~= nil and found.initialized
end)
wait("diagnostic", function() return #vim.diagnostic.get(buffer) == 1 end)
if vim.diagnostic.get(buffer)[1].code ~= "E0201" then fail("E0201, but " .. vim.inspect(vim.diagnostic.get(buffer))) end

-- The mistake is mended by typing, and the diagnostic goes.
local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
for number, line in ipairs(lines) do
  local mended = line:gsub("spede", "speed")
  vim.api.nvim_buf_set_lines(buffer, number - 1, number, false, { mended })
end
wait("end of the diagnostic", function() return #vim.diagnostic.get(buffer) == 0 end)

local function at(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then return { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = number - 1, character = column - 1 } } end
  end
  fail(text)
end

local hover = vim.lsp.buf_request_sync(buffer, "textDocument/hover", at("speed"), 60000)
local said = hover and hover[client] and hover[client].result and hover[client].result.contents.value or ""
if not said:find("State.", 1, true) or not said:find("rad/s", 1, true) then fail("hover: " .. said) end

vim.api.nvim_win_set_cursor(0, { at("speed").position.line + 1, at("speed").position.character })
vim.lsp.buf.rename("velocity")
wait("renamed buffer", function()
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  return text:find("der(velocity)", 1, true) ~= nil and text:find("speed", 1, true) == nil
end)
vim.cmd("write")
vim.lsp.stop_client(client)
for _, message in ipairs(logged) do
  if message:find("internal error", 1, true) then fail(message) end
end
io.stderr:write("neovim: attached, diagnosed, hovered, renamed and written\n")
vim.cmd("quitall!")
