import { expect } from "@jest/globals";

type Opened = { readonly name: string; readonly digest: string };

/** A model is opened by its own digest, and by no other. @param key of the configuration, without its last part */
export async function expectPinned(
  open: (settings: { readonly digest?: string }) => Promise<Opened>,
  code: string,
  key: string,
): Promise<void> {
  const { name, digest } = await open({});
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect((await open({ digest })).name).toBe(name);
  const other = "a".repeat(64);
  await expect(open({ digest: other })).rejects.toMatchObject({
    code,
    message: expect.stringMatching(`${key}.digest asks .*${other}.*${digest}.*change`),
  });
}
