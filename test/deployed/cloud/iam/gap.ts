/** Something that AWS knows and this harness does not: the test must fail, whatever the code under test makes of it. */
export class HarnessGap extends Error {
  override readonly name = 'HarnessGap';
}
