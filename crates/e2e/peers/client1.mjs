// A host of the handshake era: the official client 1.x over stdio. Commands come as JSON lines, answers go as JSON lines.
// usage: node client1.mjs COMMAND [ARGUMENT…]
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { obey } from './obey.mjs';

const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' });
const client = new Client({ name: 'e2e-handshake', version: '1.0.0' }, { capabilities: { sampling: {} } });
client.setRequestHandler(CreateMessageRequestSchema, async () => ({
  model: 'none', role: 'assistant', content: { type: 'text', text: 'sampled' },
}));
await client.connect(transport);
const call = (params, options) => client.callTool(params, undefined, options);
await obey(client, call, { era: 'handshake' });
