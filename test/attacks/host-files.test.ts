import { checkFamily } from './check-family.ts';
import { hostFiles } from './families/host-files.ts';

checkFamily(hostFiles);
