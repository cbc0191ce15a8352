import { ANNOTATION_OWNER, LABEL_OPERATOR } from '../labels.ts';
import { fieldOf, textOf } from '../untrusted.ts';
import { parseManifest } from './manifest-yaml.ts';
import { isUnmarked } from './release-labels.ts';
import { type Revision, recordOf } from './stored-release.ts';

/** Whose release it is, for people. Its label has only a digest of the owner; its objects have the name. */
export async function describeReleaseOwner(revision: Revision): Promise<string> {
  if (isUnmarked(revision)) return 'whoever made it by hand';
  const { manifest } = (await recordOf(revision)) ?? { manifest: '' };
  return parseManifest(manifest).map(ownerIn).find(Boolean) ?? 'another object';
}

function ownerIn({ value }: { readonly value: unknown }): string | undefined {
  const metadata = fieldOf(value, 'metadata');
  const [reference]: readonly unknown[] = listIn(metadata, 'ownerReferences');
  if (reference) return `${textOf(reference, 'kind')} ${textOf(reference, 'name')}`;
  const owner = textOf(fieldOf(metadata, 'annotations'), ANNOTATION_OWNER);
  const operator = textOf(fieldOf(metadata, 'labels'), LABEL_OPERATOR) ?? 'object';
  return owner === undefined ? undefined : `${operator} ${owner}`;
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}
