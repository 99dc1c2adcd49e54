// The loop both hosts share; `call` is how this client calls a tool. A line asks for one thing and gets one line back, in the order of completion:
// {"id":1,"do":"call","name":"echo","arguments":{…},"timeout":5000} → {"id":1,"result":{…}} or {"id":1,"error":{…}}
import { createInterface } from 'node:readline';

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

export async function obey(client, call, about) {
  say({ id: 0, result: { ...about, server: client.getServerVersion() ?? null } });
  const lines = createInterface({ input: process.stdin });
  const open = new Set();
  for await (const line of lines) {
    const asked = JSON.parse(line);
    if (asked.do === 'close') break;
    const work = answer(client, call, asked).then(say);
    open.add(work);
    work.finally(() => open.delete(work));
  }
  await Promise.all(open);
  await client.close();
  say({ id: 'closed' });
}

async function answer(client, call, asked) {
  const options = { timeout: asked.timeout ?? 60_000 };
  if (asked.progress) {
    options.onprogress = (progress) => say({ id: asked.id, progress });
    options.resetTimeoutOnProgress = true;
  }
  try {
    return { id: asked.id, result: await perform(client, call, asked, options) };
  } catch (error) {
    return { id: asked.id, error: { name: error.name, code: error.code ?? null, message: error.message } };
  }
}

async function perform(client, call, asked, options) {
  switch (asked.do) {
    case 'tools':
      return (await client.listTools({}, options)).tools.map((tool) => tool.name);
    case 'call':
      return await call({ name: asked.name, arguments: asked.arguments ?? {} }, options);
    case 'read':
      return await client.readResource({ uri: asked.uri }, options);
    case 'prompt':
      return await client.getPrompt({ name: asked.name, arguments: asked.arguments ?? {} }, options);
    default:
      throw new Error(`does not know: ${asked.do}`);
  }
}
