import { KubectlV36Layer } from '@aws-cdk/lambda-layer-kubectl-v36';
import { Architecture, type ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Operator } from '../runtime/operator.ts';

export type Tool = NonNullable<Operator['tools']>[number];

/** The programs in the layers are built for this processor only. */
export const TOOL_ARCHITECTURE = Architecture.X86_64;

/** Programs that functions run, one layer for all functions that need it: helm is at /opt/helm/helm. */
export class ToolLayers extends Construct {
  private readonly layers = new Map<Tool, ILayerVersion>();

  /** Made when somebody needs it. */
  layerOf(tool: Tool): ILayerVersion {
    const layer = this.layers.get(tool) ?? new KubectlV36Layer(this, tool);
    this.layers.set(tool, layer);
    return layer;
  }
}
