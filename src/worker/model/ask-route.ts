import { HostError, askHost } from "./host-request.ts";
import { saysModelMissing } from "./host-failure.ts";
import { readText } from "./read-reply.ts";
import { parseWire } from "./wire-json.ts";
import type { Wire } from "./wire-json.ts";

/**
 * What one route of a host says about itself; null where it has no such route, or says no JSON object there.
 * Throws what askHost throws for a host that is down, busy or broken, or that does not have the model.
 *
 * @param body of a POST; null for a GET
 */
export async function askRoute(
  url: string,
  body: Wire | null,
  signal: AbortSignal,
): Promise<Wire | null> {
  try {
    const json = body === null ? null : JSON.stringify(body);
    return parseWire(await readText(await askHost(url, json, signal)));
  } catch (error) {
    if (error instanceof HostError && hasNoRoute(error)) return null;
    throw error;
  }
}

const hasNoRoute = ({ status, message }: HostError): boolean =>
  status < 500 && status !== 429 && !saysModelMissing(message);
