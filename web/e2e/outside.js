// A place that nothing in a chat may reach.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A place outside, and how often somebody came there. */
export async function outside(t) {
  const arrived = { count: 0 };
  const server = createServer((socket) => {
    arrived.count++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  arrived.port = server.address().port;
  const datagrams = createSocket('udp4', () => arrived.count++).bind(arrived.port, '127.0.0.1');
  await once(datagrams, 'listening');
  t.after(() => {
    server.close();
    datagrams.close();
  });
  return arrived;
}
