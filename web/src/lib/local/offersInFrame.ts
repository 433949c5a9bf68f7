// How much of what servers offer goes into one frame to Tenon.
import type { ServerWithTools } from './discover';

/** Tenon takes no frame of more than 24 MiB, and ends the connection over a longer one. */
export const MAX_OFFERED_MIB = 20;
const MAX_OFFERED_BYTES = MAX_OFFERED_MIB * 1024 * 1024;

/** Those that go along, and those that do not even go alone: they cannot be used. */
export function offersInFrame(servers: readonly ServerWithTools[]): {
  along: ServerWithTools[];
  tooLong: ServerWithTools[];
} {
  const along: ServerWithTools[] = [];
  const tooLong: ServerWithTools[] = [];
  let room = MAX_OFFERED_BYTES;
  for (const server of servers) {
    const size = new Blob([JSON.stringify(server.offered)]).size;
    if (size > MAX_OFFERED_BYTES) {
      tooLong.push(server);
    } else if (size <= room) {
      room -= size;
      along.push(server);
    }
  }
  return { along, tooLong };
}
