import {
  CfnCondition,
  CfnOutput,
  CfnParameter,
  type DockerImageAssetLocation,
  type DockerImageAssetSource,
  type FileAssetLocation,
  FileAssetPackaging,
  type FileAssetSource,
  Fn,
  type ISynthesisSession,
  type Stack,
  StackSynthesizer,
} from 'aws-cdk-lib';
import { PlainTemplateError } from '../shared/errors.ts';

/** An asset of the template. */
export type TemplateAsset = {
  /** Its name in the bucket, after the prefix. */
  readonly key: string;
  /** The file or folder, relative to the output of the app. */
  readonly source: string;
  /** Whether `source` is a folder, which is uploaded as a zip file. */
  readonly isFolder: boolean;
};

/**
 * Synthesizes without bootstrap: the template has no roles of CDK and no rule on CDK's version. Its
 * assets are in a bucket that the template's parameters name.
 */
export class PlainSynthesizer extends StackSynthesizer {
  readonly #assets = new Map<string, TemplateAsset>();
  #location: Location | undefined;

  /** Without duplicates, in the order in which the constructs added them. */
  get assets(): readonly TemplateAsset[] {
    return [...this.#assets.values()];
  }

  addFileAsset({ sourceHash, fileName, packaging }: FileAssetSource): FileAssetLocation {
    if (fileName === undefined)
      throw new PlainTemplateError('writing a plain template: an asset without a file cannot be written');
    const isFolder = packaging === FileAssetPackaging.ZIP_DIRECTORY;
    const key = `${sourceHash}${isFolder ? '.zip' : extensionOf(fileName)}`;
    this.#assets.set(key, { key, source: fileName, isFolder });
    const { bucket, prefix } = this.#locate();
    const objectKey = Fn.join('', [prefix, key]);
    const { region, urlSuffix } = this.boundStack;
    return {
      bucketName: bucket,
      objectKey,
      httpUrl: `https://${bucket}.s3.${region}.${urlSuffix}/${objectKey}`,
      s3ObjectUrl: `s3://${bucket}/${objectKey}`,
    };
  }

  /** Adds the parameters with the first asset, so a template without assets has none. */
  #locate(): Location {
    this.#location ??= addParameters(this.boundStack);
    return this.#location;
  }

  addDockerImageAsset({ directoryName }: DockerImageAssetSource): DockerImageAssetLocation {
    throw new PlainTemplateError(
      `writing a plain template: the container image of ${directoryName ?? 'an asset'} would have to be built and pushed; push it to a registry, and write its name in the setting image`,
    );
  }

  synthesize(session: ISynthesisSession): void {
    this.synthesizeTemplate(session);
    this.emitArtifact(session);
  }
}

const extensionOf = (file: string): string => /\.[A-Za-z0-9]+$/.exec(file)?.[0] ?? '';

type Location = { readonly bucket: string; readonly prefix: string };

function addParameters(stack: Stack): Location {
  const bucket = new CfnParameter(stack, 'AssetBucket', {
    description: "S3 bucket with the files of the folder assets. It must be in the stack's region.",
    minLength: 3,
  });
  const prefix = new CfnParameter(stack, 'AssetPrefix', {
    description: 'What comes before the names of these files in the bucket: empty, or ending with a slash.',
    default: '',
    allowedPattern: '^$|^.*/$',
    constraintDescription: 'must be empty, or end with a slash',
  });
  addTemplateHash(stack);
  return { bucket: bucket.valueAsString, prefix: prefix.valueAsString };
}

/** No resource uses it. Terraform compares it with what CloudFormation has after a rollback. */
function addTemplateHash(stack: Stack): void {
  const { valueAsString: value } = new CfnParameter(stack, 'TemplateHash', {
    description:
      'A hash of the template, by which Terraform sees that an update was rolled back. May be empty.',
    default: '',
  });
  const condition = new CfnCondition(stack, 'HasTemplateHash', {
    expression: Fn.conditionNot(Fn.conditionEquals(value, '')),
  });
  new CfnOutput(stack, 'DeployedTemplateHash', {
    description: 'The hash of the template that is deployed',
    value,
    condition,
  });
}
