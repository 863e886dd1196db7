import { HostError, askHost } from "./host-request.ts";
import { isLocked, saysModelMissing } from "./host-failure.ts";
import { readText } from "./read-reply.ts";
import { parseWire } from "./wire-json.ts";
import type { Wire } from "./wire-json.ts";

/**
 * What one route of a host says about itself; null where it has no such route, or says no JSON object there.
 * Throws what askHost throws for a host that is down, busy, broken or locked, or that does not have the model.
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

/** The same for a GET of what can be done without: null also where a proxy lets nobody in. */
export const askOptionalRoute = (url: string, signal: AbortSignal): Promise<Wire | null> =>
  askRoute(url, null, signal).catch((error: unknown) => {
    if (error instanceof HostError && isLocked(error)) return null;
    throw error;
  });

const hasNoRoute = (error: HostError): boolean =>
  error.status < 500 &&
  error.status !== 429 &&
  !isLocked(error) &&
  !saysModelMissing(error.message);
