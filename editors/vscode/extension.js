// The extension: starts `saltus lsp` and shows what its commands return. Everything else is done by the server.
'use strict';

const fs = require('fs');
const path = require('path');
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');
const { page } = require('./view');

let client;

/** The program: the one of the settings, the one inside the extension, or the one on the path. Nothing is downloaded. */
function program(context) {
  const named = vscode.workspace.getConfiguration('saltus').get('path');
  if (named) return named;
  const name = process.platform === 'win32' ? 'saltus.exe' : 'saltus';
  const inside = path.join(context.extensionPath, 'bin', name);
  return fs.existsSync(inside) ? inside : name;
}

function show(command, result) {
  if (!result) return;
  if (command === 'saltus.flatten') {
    return vscode.workspace
      .openTextDocument({ language: 'modelica', content: result.text })
      .then((document) => vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside }));
  }
  const title = result.model || result.code || 'Saltus';
  // The report brings its scripts along, and its policy allows these by their hashes and nothing else.
  const isReport = Boolean(result.page);
  const panel = vscode.window.createWebviewPanel('saltus', title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, {
    enableScripts: isReport,
    retainContextWhenHidden: isReport,
    localResourceRoots: [],
  });
  panel.webview.html = isReport ? result.page : page(title, result.svg, result.text);
  if (result.failure) vscode.window.showWarningMessage(result.text);
}

/** The commands of lenses and actions go to the server; what it returns is shown here. */
async function execute(command, args, next) {
  try {
    const title = `Saltus: ${args && args[1] ? args[1] : command}`;
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () => next(command, args));
    await show(command, result);
    return result;
  } catch (error) {
    vscode.window.showErrorMessage(String(error.message || error));
  }
}

/** The model around the cursor, whether or not lenses are shown. */
async function here(command) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) return;
  const uri = editor.document.uri.toString();
  const models = (await client.sendRequest('workspace/executeCommand', { command: 'saltus.models', arguments: [uri] })) || [];
  const above = models.filter((entry) => entry.range.start.line <= editor.selection.active.line);
  const found = above[above.length - 1] || models[models.length - 1];
  if (!found) return vscode.window.showInformationMessage('There is no model in this file.');
  return vscode.commands.executeCommand(command, uri, found.model);
}

function start(context) {
  const command = program(context);
  const server = { command, args: ['lsp'], transport: TransportKind.stdio };
  client = new LanguageClient('saltus', 'Saltus', server, {
    documentSelector: [
      { scheme: 'file', language: 'modelica' },
      { scheme: 'untitled', language: 'modelica' },
      { scheme: 'saltus-library', language: 'modelica' },
    ],
    synchronize: { configurationSection: 'saltus' },
    // What commands return is shown here.
    initializationOptions: { views: true },
    middleware: { executeCommand: execute },
  });
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(`The program \`${command}\` cannot be started: ${error.message || error}. The setting saltus.path names another one.`);
  });
}

async function activate(context) {
  const register = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  register('saltus.simulateHere', () => here('saltus.simulate'));
  register('saltus.analyzeHere', () => here('saltus.analyze'));
  register('saltus.flattenHere', () => here('saltus.flatten'));
  register('saltus.restart', async () => {
    if (client) await client.stop().catch(() => undefined);
    await start(context);
  });
  await start(context);
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
