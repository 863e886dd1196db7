import { parseUrl } from "../shared/http/parse-url.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Fragment, Html } from "../shared/views/html-markup.ts";

/** A path of the dashboard. Each part is encoded, so that no name can lead elsewhere. */
export const pathTo = (...parts: readonly string[]): string =>
  `/${parts.map((part) => encodeURIComponent(part)).join("/")}`;

/** A path with parameters, without those that have no value. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A link within the dashboard. */
export const link = (href: string, text: Fragment): Html =>
  markup`<a href="${assertLocal(href)}">${text}</a>`;

/** An address that a document or a model names: a link for a web URL, else plain text. */
export function webLink(address: string): Html {
  const url = parseUrl(address);
  const leadsToTheWeb = url !== undefined && ["http:", "https:"].includes(url.protocol);
  return leadsToTheWeb
    ? markup`<a href="${url.href}" rel="noopener noreferrer nofollow" target="_blank">${address}</a>`
    : markup`${address}`;
}

function assertLocal(href: string): string {
  if (/^(?:\/(?!\/)|[?#])/.test(href)) return href;
  throw new Error(`${JSON.stringify(href)} does not lead to a page of this dashboard`);
}
