import { SaxesParser } from "saxes";
import { NoText } from "./text-builder.ts";

export type XmlAttributes = Readonly<Record<string, string>>;

/** Names come without their prefixes. */
export type XmlVisitor = {
  readonly open: (name: string, attributes: XmlAttributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
};

/**
 * Visits the elements of an XML document, without building a tree and without recursion. It refuses a document type, so that
 * no entity can expand.
 * @throws NoText FILE_FORMAT_INVALID if the XML is not well-formed or has a document type; and errors of the visitor
 */
export function walkXml(xml: string, visitor: XmlVisitor): void {
  const walk = openXmlWalk(visitor);
  walk.write(xml);
  walk.close();
}

/** The same for a document that comes in pieces; `close` throws if its end is missing. */
export type XmlWalk = { write(xml: string): void; close(): void };

export function openXmlWalk({ open, close, text }: XmlVisitor): XmlWalk {
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on("doctype", () => {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "declares a document type, which no such file needs: save it anew.",
    );
  });
  parser.on("error", () => {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "holds XML that is not well-formed: save it anew with the program that made it.",
    );
  });
  parser.on("opentag", ({ name, attributes }) => {
    open(localName(name), withLocalNames(attributes));
  });
  if (close !== undefined) {
    parser.on("closetag", ({ name }) => {
      close(localName(name));
    });
  }
  if (text !== undefined) {
    parser.on("text", text);
    parser.on("cdata", text);
  }
  return {
    write: (xml) => void parser.write(xml),
    close: () => void parser.close(),
  };
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

function withLocalNames(attributes: Readonly<Record<string, unknown>>): XmlAttributes {
  const local: Record<string, string> = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (typeof value === "string") local[localName(name)] = value;
  }
  return local;
}
