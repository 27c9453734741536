// What VS Code's own test runner runs, in its extension host: the installed extension with the real server, in a real editor.
// The environment names a folder (WORKSPACE) with a text, a.c, and one that is left alone, refused.c; what ompsplit makes of the first
// (EXPECTED); and where to note what came out (OUTCOME).
'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const vscode = require('vscode')

const folder = process.env.WORKSPACE
const original = fs.readFileSync(path.join(folder, 'a.c'), 'utf8')
const expected = fs.readFileSync(process.env.EXPECTED, 'utf8')

async function until (what, question) {
  for (const end = Date.now() + 60000; Date.now() < end;) {
    const answer = await question()
    if (answer) return answer
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`in vain: ${what}`)
}

// Does a save leave this text in the file? On a busy machine VS Code saves without the actions for which it has waited long enough; the
// next save has them.
async function saves (document, text) {
  await vscode.commands.executeCommand('workbench.action.files.save')
  return fs.readFileSync(document.fileName, 'utf8') === text
}

async function open (name, text) {
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  const document = await vscode.workspace.openTextDocument(file)
  await vscode.window.showTextDocument(document)
  return document
}

// Diagnostics of the document that ompsplit gives.
const said = document => vscode.languages.getDiagnostics(document.uri).filter(one => one.source === 'ompsplit')
const pragma = document => document.positionAt(document.getText().indexOf('omp target') + 6)

// A document is as it is on the disk, so that no question is asked when it closes.
async function close (document) {
  await vscode.window.showTextDocument(document)
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor')
}

const tests = {
  async 'it is installed and wakes up for C' () {
    const document = await open('first.c', original)
    const extension = vscode.extensions.getExtension('ompsplit.ompsplit')
    assert(extension, 'not installed')
    await until('it is active', () => extension.isActive)
    assert.deepStrictEqual(extension.packageJSON.categories, ['Formatters', 'Linters', 'Programming Languages'])
    await close(document)
  },

  async 'diagnostics come while typing, and say what is done' () {
    const document = await open('typed.c', '')
    await vscode.window.activeTextEditor.edit(edit => edit.insert(new vscode.Position(0, 0), original))
    const [first] = await until('diagnostics', () => { const all = said(document); return all.length && all })
    assert.match(first.message, /split into/)
    await close(document)
  },

  async 'a hover explains the directive' () {
    const document = await open('hover.c', original)
    const hovers = await until('a hover', async () => {
      const all = await vscode.commands.executeCommand('vscode.executeHoverProvider', document.uri, pragma(document))
      return all.length && all
    })
    assert.match(hovers.flatMap(one => one.contents.map(text => text.value ?? text)).join('\n'), /kernel/)
    await close(document)
  },

  async 'an action for each plan, and one for everything' () {
    const document = await open('action.c', original)
    const range = new vscode.Range(pragma(document), pragma(document))
    const actions = await until('actions', async () => {
      const all = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', document.uri, range)
      return all.some(one => one.edit) && all
    })
    assert(actions.some(one => one.kind?.value === 'refactor.rewrite'), `no rewrite among ${actions.map(one => one.title)}`)
    const all = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', document.uri, range, 'source.fixAll.ompsplit')
    await vscode.workspace.applyEdit(all[0].edit)
    assert.strictEqual(document.getText(), expected)
    await close(document)
  },

  async 'the text is formatted, with its line ends' () {
    for (const [name, ends] of [['lf.c', '\n'], ['crlf.c', '\r\n']]) {
      const document = await open(name, original.replaceAll('\n', ends))
      await vscode.commands.executeCommand('editor.action.formatDocument')
      await until('formatting', () => document.getText() === expected.replaceAll('\n', ends))
      await vscode.commands.executeCommand('undo')
      assert.strictEqual(document.getText(), original.replaceAll('\n', ends), 'one undo takes everything back')
      await close(document)
    }
  },

  // As the extension's page says.
  async 'a save rewrites, and a second one changes nothing' () {
    await vscode.workspace.getConfiguration('editor')
      .update('codeActionsOnSave', { 'source.fixAll.ompsplit': 'explicit' }, vscode.ConfigurationTarget.Workspace)
    const document = await open('save.c', '\n' + original)
    await vscode.window.activeTextEditor.edit(edit => edit.delete(new vscode.Range(0, 0, 1, 0)))
    await until('the file has it', () => saves(document, expected))
    await vscode.window.activeTextEditor.edit(edit => edit.insert(new vscode.Position(0, 0), '\n'))
    await until('the file has the new line', () => saves(document, '\n' + expected))
    await close(document)
  },

  async 'settings reach the server' () {
    const document = await open('settings.c', fs.readFileSync(path.join(folder, 'refused.c'), 'utf8'))
    const settings = vscode.workspace.getConfiguration('ompsplit')
    await until('what is left alone is marked', () => said(document).length)
    const { code } = said(document)[0]
    assert.match(String(code.value ?? code), /^OMPS\d+$/)
    const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', document.uri, said(document)[0].range)
    assert(actions.some(one => one.edit && /NOLINT|[Ss]ilence/.test(one.title)), `nothing silences: ${actions.map(one => one.title)}`)
    await settings.update('quiet', true, vscode.ConfigurationTarget.Workspace)
    await until('only what can be rewritten is marked', () => said(document).length === 0)
    await settings.update('quiet', undefined, vscode.ConfigurationTarget.Workspace)
    await until('it is marked again', () => said(document).length)
    await close(document)
  },

  async 'a program that is missing costs nothing, and another one is taken' () {
    const settings = vscode.workspace.getConfiguration('ompsplit')
    await settings.update('command', '/nonexistent/ompsplit', vscode.ConfigurationTarget.Global)
    const document = await open('missing.c', original)
    await until('nobody says anything', () => said(document).length === 0)
    await vscode.commands.executeCommand('editor.action.formatDocument')
    await document.save()
    assert.strictEqual(fs.readFileSync(document.fileName, 'utf8'), original)
    await settings.update('command', undefined, vscode.ConfigurationTarget.Global)
    await until('diagnostics', () => said(document).length)
    await close(document)
  },

  async 'the server starts anew' () {
    const document = await open('again.c', original)
    await until('diagnostics', () => said(document).length)
    await vscode.commands.executeCommand('ompsplit.restart')
    await until('diagnostics again', () => said(document).length)
    await close(document)
  }
}

async function run () {
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test()
    } catch (error) {
      console.error(`failed: ${name}: ${error.stack}`)
      fs.appendFileSync(process.env.OUTCOME, `failed: ${name}: ${error.stack}\n`)
      throw error
    }
    fs.appendFileSync(process.env.OUTCOME, `ok: ${name}\n`)
  }
}

module.exports = { run }
