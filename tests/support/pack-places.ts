import { openPlaces } from "../../src/worker/documents/places.ts";
import type { Places, PlaceOfText } from "../../src/worker/documents/places.ts";

/** @param places in order of `start` */
export function packPlaces(places: readonly PlaceOfText[]): Places {
  const packing = openPlaces();
  for (const place of places) packing.add(place);
  return packing.pack();
}
