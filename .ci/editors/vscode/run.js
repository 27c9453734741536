// usage: node run.js SERVER TESTS WORKSPACE SCRATCH
//
// Starts VS Code (SERVER is the folder of its build for browsers, as code-server holds it) and opens WORKSPACE in a headless Chromium, with
// TESTS as the extension whose tests VS Code's test runner runs; ends as they do. SCRATCH keeps VS Code's data and installed extensions, and a
// picture of the end.
'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const puppeteer = require('puppeteer-core')

const [server, tests, workspace, scratch] = process.argv.slice(2)
const limit = 300000

// The server chooses a free port and says which.
function start () {
  const child = spawn(process.execPath, [
    path.join(server, 'out/server-main.js'), '--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--accept-server-license-terms',
    '--telemetry-level', 'off', '--disable-workspace-trust', '--force-disable-user-env',
    '--server-data-dir', path.join(scratch, 'data'), '--extensions-dir', path.join(scratch, 'extensions')
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', data => {
      text += data
      const found = text.match(/listening on (\d+)/)
      if (found) resolve(found[1])
    })
    child.on('exit', () => reject(new Error(`VS Code does not start: ${text}`)))
  })
  return { child, port }
}

async function main () {
  const { child, port } = start()
  let browser
  try {
    const authority = `127.0.0.1:${await port}`
    browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true, args: ['--no-sandbox', '--disable-gpu'] })
    const page = await browser.newPage()
    // VS Code calls these two in a browser that has them.
    await page.exposeFunction('codeAutomationLog', (kind, words) => console.log(kind, ...words))
    let end
    const ended = new Promise(resolve => { end = resolve })
    await page.exposeFunction('codeAutomationExit', end)
    const remote = place => `vscode-remote://${authority}${place}`
    const payload = [['extensionDevelopmentPath', remote(tests)], ['extensionTestsPath', remote(path.join(tests, 'tests.js'))], ['skipWelcome', 'true']]
    await page.goto(`http://${authority}/?${new URLSearchParams({ folder: workspace, payload: JSON.stringify(payload) })}`)
    const late = new Promise(resolve => setTimeout(() => resolve('no end in sight'), limit))
    const code = await Promise.race([ended, late])
    await page.screenshot({ path: path.join(scratch, 'vscode.png') })
    return code
  } finally {
    await browser?.close()
    child.kill()
  }
}

main().then(code => {
  if (code !== 0) console.error('the test runner ends with', code)
  process.exit(code === 0 ? 0 : 1)
}, error => {
  console.error(error)
  process.exit(1)
})
