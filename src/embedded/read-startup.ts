import type { ErrorFields } from "./backend-messages.ts";
import { BadFrame } from "./frame-reader.ts";

export type Startup =
  | { readonly kind: "encryption" }
  | { readonly kind: "cancel" }
  | { readonly kind: "session"; readonly minor: number; readonly protocolOptions: string[] }
  | { readonly kind: "refused"; readonly error: ErrorFields };

// Codes that stand where the protocol version does.
const CANCEL = 80_877_102;
const ENCRYPTION = new Set([80_877_103, 80_877_104]);

/** Reads the first packet of a connection. @throws BadFrame */
export function readStartup(packet: Buffer): Startup {
  if (packet.length < 8) throw new BadFrame("a startup packet without a version");
  const version = packet.readUInt32BE(4);
  if (ENCRYPTION.has(version)) return { kind: "encryption" };
  if (version === CANCEL) return { kind: "cancel" };
  if (version >>> 16 !== 3) {
    return refused("0A000", `protocol ${version >>> 16} is not supported, only 3`);
  }
  const parameters = readParameters(packet);
  const error = checkParameters(parameters);
  if (error !== undefined) return error;
  const protocolOptions = [...parameters.keys()].filter((name) => name.startsWith("_pq_."));
  return { kind: "session", minor: version & 0xffff, protocolOptions };
}

function readParameters(packet: Buffer): Map<string, string> {
  const words = packet.subarray(8).toString().split("\0");
  const parameters = new Map<string, string>();
  for (let at = 0; (words[at] ?? "") !== ""; at += 2) {
    parameters.set(words[at] ?? "", words[at + 1] ?? "");
  }
  return parameters;
}

// A parameter that is accepted and has no effect would give wrong answers, or more rights than were asked for.
function checkParameters(parameters: ReadonlyMap<string, string>): Startup | undefined {
  const user = parameters.get("user") ?? "";
  const database = parameters.get("database") ?? user;
  if (user !== "postgres") {
    return refused("28000", `the embedded database has no user "${user}"`, "Connect as postgres.");
  }
  if (database !== "postgres") {
    const message = `the embedded database has no database "${database}"`;
    return refused("3D000", message, "Connect to postgres.");
  }
  const name = ["options", "search_path", "replication"].find((it) => parameters.get(it));
  if (name === undefined) return undefined;
  const message = `the embedded database does not support the startup parameter "${name}"`;
  return refused("0A000", message, "All connections share one session and its settings.");
}

const refused = (code: string, message: string, hint?: string): Startup => ({
  kind: "refused",
  error: { severity: "FATAL", code, message, ...(hint === undefined ? {} : { hint }) },
});
