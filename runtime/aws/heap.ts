import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from letting the space for new objects grow. Almost all that a function makes is garbage at once, so a larger
 * space only holds more garbage: at a million items 50 MB of it, for nothing. Lambda starts Node with limits of its own,
 * which NODE_OPTIONS cannot change.
 */
export const keepHeapSmall = (): void => setFlagsFromString('--semi-space-growth-factor=1');
