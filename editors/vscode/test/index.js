// Run by VS Code's own test runner, in its extension host. What went wrong, or that nothing did, goes to a file.
'use strict'

const assert = require('assert')
const fs = require('fs')
const vscode = require('vscode')

const { TEXT, EXPECTED, SEEN } = JSON.parse(fs.readFileSync(`${__dirname}/settings.json`, 'utf8'))

async function until (what, found) {
  for (let left = 600; left > 0; left--) {
    const value = await found()
    if (value) return value
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`no ${what}`)
}

async function check () {
  const expected = fs.readFileSync(EXPECTED, 'utf8')
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(TEXT))
  const editor = await vscode.window.showTextDocument(document)
  const said = await until('diagnostics', () => {
    const all = vscode.languages.getDiagnostics(document.uri)
    return all.length > 0 && all
  })
  assert.match(said[0].message, /split into/)
  const hovers = await vscode.commands.executeCommand('vscode.executeHoverProvider', document.uri, said[0].range.start)
  assert.ok(hovers.some(hover => hover.contents.some(part => (part.value ?? part).includes('split: applied, safe'))))
  const whole = new vscode.Range(0, 0, document.lineCount, 0)
  const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', document.uri, whole, 'source.fixAll')
  assert.ok(actions.some(action => action.kind?.value === 'source.fixAll.ompsplit'), 'source.fixAll is offered')
  // On save, as the README says.
  const settings = vscode.workspace.getConfiguration('editor', document.uri)
  await settings.update('codeActionsOnSave', { 'source.fixAll.ompsplit': 'always' }, vscode.ConfigurationTarget.Global)
  await editor.edit(edit => edit.insert(new vscode.Position(0, 0), ' '))
  await editor.edit(edit => edit.delete(new vscode.Range(0, 0, 0, 1)))
  await document.save()
  assert.strictEqual(document.getText(), expected)
  assert.strictEqual(fs.readFileSync(TEXT, 'utf8'), expected)
  await until('silence', () => vscode.languages.getDiagnostics(document.uri).length === 0)
}

exports.run = async () => {
  let result = 'content'
  try {
    await check()
  } catch (error) {
    result = `failed: ${error.stack ?? error}`
  }
  fs.writeFileSync(SEEN, result)
}
