/** What `cdk` runs: checks the context, builds the bundles, describes the stack. */
import { App } from 'aws-cdk-lib';
import { operators } from '../functions/operators.ts';
import { bundleAll, bundleNamesOf, defaultBundleFolder } from './bundle.ts';
import { parseContext } from './context.ts';
import { describeProblems } from './context-message.ts';
import { PodlessStack } from './podless-stack.ts';

const app = new App();
const context = app.node.getAllContext() as Readonly<Record<string, unknown>>;
const parsed = parseContext(context, operators);
if ('problems' in parsed) {
  console.error(describeProblems(parsed.problems));
  // At once: the app would otherwise be synthesized at the end, without a stack.
  process.exit(1);
}
const { settings } = parsed;
await bundleAll(bundleNamesOf(settings.operators));
new PodlessStack(app, 'Podless', { settings, bundleFolder: defaultBundleFolder });
