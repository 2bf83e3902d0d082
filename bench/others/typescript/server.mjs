// The benchmark's tool as a minimal server on the TypeScript SDK: `server.mjs PORT` or
// `server.mjs stdio`.

import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const inputSchema = z.object({
    a: z.number().int().describe('One number.'),
    b: z.number().int().describe('The other number.')
});
const outputSchema = z.object({ sum: z.number().int() });

function server() {
    const server = new McpServer({ name: 'fixture', version: '0.1.0' });
    server.registerTool(
        'fixture_sum',
        { title: 'Sum', description: 'Adds two integers.', inputSchema, outputSchema },
        ({ a, b }) => {
            const structuredContent = { sum: a + b };
            const text = JSON.stringify(structuredContent);
            return { content: [{ type: 'text', text }], structuredContent };
        }
    );
    return server;
}

const [where] = process.argv.slice(2);
if (where === 'stdio') {
    serveStdio(server);
} else {
    const handler = toNodeHandler(createMcpHandler(server, { responseMode: 'json' }));
    createServer(handler).listen(Number(where), '127.0.0.1');
}
