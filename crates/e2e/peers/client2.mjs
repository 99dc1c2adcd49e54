// A host of the stateless era: the official client 2.x over stdio. Commands come as JSON lines, answers go as JSON lines.
// usage: node client2.mjs auto|pin COMMAND [ARGUMENT…]
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { obey } from './obey.mjs';

const [way, command, ...args] = process.argv.slice(2);
const mode = way === 'pin' ? { pin: '2026-07-28' } : 'auto';
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' });
const client = new Client(
  { name: 'e2e-stateless', version: '2.0.0' },
  { capabilities: {}, versionNegotiation: { mode } },
);
await client.connect(transport);
const call = (params, options) => client.callTool(params, options);
// the SDK says legacy and modern
await obey(client, call, { era: client.getProtocolEra() === 'modern' ? 'stateless' : 'handshake' });
