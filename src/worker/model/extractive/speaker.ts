/** Who speaks: "Marta Lind:" in front of a paragraph; null where it opens otherwise. */
export function speakerOf(paragraph: string): string | null {
  const [, name] =
    /^[*_]{0,3}(\p{Lu}[\p{L}\p{N}.'’-]{0,24}(?: [\p{L}\p{N}(][\p{L}\p{N}.'’)-]{0,24}){0,4}):[*_]{0,3} /u.exec(
      paragraph,
    ) ?? [];
  return name ?? null;
}
