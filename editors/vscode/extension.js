// Starts `ompsplit server` for C and C++ and hands it the editor's settings; everything else is the language client's.
'use strict'

const { execFile } = require('node:child_process')
const { workspace, commands, window } = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

// The settings that the server knows, by its own names.
const NAMES = ['passes', 'assume', 'device', 'quiet']

let client

function settings () {
  const all = workspace.getConfiguration('ompsplit')
  return Object.fromEntries(NAMES.map(name => [name, all.get(name)]).filter(([, value]) => value !== null && value !== undefined))
}

// What keeps a program from running, in words that say what to do.
function obstacle (command) {
  return new Promise(resolve => execFile(command, ['--version'], error => {
    if (error?.code === 'ENOENT') resolve(`\`${command}\` was not found: install it, or let the setting ompsplit.command name it`)
    else resolve(error && `\`${command}\` does not run: ${error.message}`)
  }))
}

async function complain (what) {
  const settings = 'Open the setting'
  if (await window.showErrorMessage(`ompsplit: ${what}`, settings) === settings) {
    await commands.executeCommand('workbench.action.openSettings', 'ompsplit.command')
  }
}

async function start () {
  const command = workspace.getConfiguration('ompsplit').get('command')
  const what = await obstacle(command)
  if (what) {
    complain(what)
    return
  }
  client = new LanguageClient(
    'ompsplit',
    'ompsplit',
    { command, args: ['server'] },
    {
      documentSelector: [{ scheme: 'file', language: 'c' }, { scheme: 'file', language: 'cpp' }],
      initializationOptions: settings()
    }
  )
  try {
    await client.start()
  } catch (error) {
    client = undefined
    complain(`\`${command} server\` does not start: ${error.message ?? error}`)
  }
}

async function stop () {
  const old = client
  client = undefined
  await old?.stop()
}

async function restart () {
  await stop()
  await start()
}

async function activate (context) {
  context.subscriptions.push(
    commands.registerCommand('ompsplit.restart', restart),
    workspace.onDidChangeConfiguration(async event => {
      if (event.affectsConfiguration('ompsplit.command')) await restart()
      else if (event.affectsConfiguration('ompsplit')) {
        await client?.sendNotification('workspace/didChangeConfiguration', { settings: { ompsplit: settings() } })
      }
    })
  )
  await start()
}

module.exports = { activate, deactivate: stop }
