// A person at a browser: Chromium without a window, driven by JSON lines. Each asks for one thing and gets one line back:
// {"id":1,"do":"click","on":"text=abort"} → {"id":1,"result":…} or {"id":1,"error":{…}}
// usage: node browser.mjs CHROMIUM PROFILE
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [executablePath, profile] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
// Without the sandbox: it cannot be had by root, and what is opened is our own.
const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args });
const page = await context.newPage();
page.setDefaultTimeout(20_000);
const troubles = [];
page.on('pageerror', (error) => troubles.push(error.message));
page.on('console', (message) => { if (message.type() === 'error') troubles.push(message.text()); });
page.on('dialog', (dialog) => { troubles.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
say({ id: 0, result: { browser: context.browser()?.version() ?? null } });

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.do === 'close') break;
  try {
    say({ id: asked.id, result: (await perform(asked)) ?? null });
  } catch (error) {
    say({ id: asked.id, error: { name: error.name, message: error.message } });
  }
}
await context.close();
say({ id: 'closed' });

async function perform(asked) {
  switch (asked.do) {
    case 'open':
      return void await page.goto(asked.url);
    case 'click':
      return void await page.click(asked.on);
    case 'fill':
      return void await page.fill(asked.in, asked.with);
    case 'value':
      return await page.inputValue(asked.of);
    case 'text':
      return await page.textContent(asked.of);
    case 'until':
      await page.waitForFunction(([of, has]) => document.querySelector(of)?.textContent.includes(has), [asked.of, asked.has]);
      return await page.textContent(asked.of);
    case 'look':
      return await page.evaluate(asked.at);
    case 'troubles':
      return troubles;
    default:
      throw new Error(`does not know: ${asked.do}`);
  }
}
