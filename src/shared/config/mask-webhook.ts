/** The URL of a webhook as far as it is no secret: its path is often the only key that it has. */
export function maskWebhook(url: string): string {
  if (!URL.canParse(url)) return "***";
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname === "/" && search === "" ? "/" : "/***"}`;
}
