import { parseUrl } from "../shared/http/parse-url.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Fragment, Html } from "../shared/views/html-markup.ts";

/** A path of this desk: each part is encoded, so that no name leads elsewhere. */
export const pathTo = (...parts: readonly string[]): string =>
  `/${parts.map((part) => encodeURIComponent(part)).join("/")}`;

/** A path with parameters; those without a value are left out. */
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

/** A link within this desk. */
export const link = (href: string, text: Fragment): Html =>
  markup`<a href="${assertLocal(href)}">${text}</a>`;

/** A page of the web that a document or a model names: a link where it leads to the web, else its words alone. */
export function webLink(address: string): Html {
  const url = parseUrl(address);
  const leadsToTheWeb = url !== undefined && ["http:", "https:"].includes(url.protocol);
  return leadsToTheWeb
    ? markup`<a href="${url.href}" rel="noopener noreferrer nofollow" target="_blank">${address}</a>`
    : markup`${address}`;
}

function assertLocal(href: string): string {
  if (/^(?:\/(?!\/)|[?#])/.test(href)) return href;
  throw new Error(`${JSON.stringify(href)} does not lead to a page of this desk`);
}
