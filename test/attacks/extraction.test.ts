import { checkFamily } from './check-family.ts';
import { extraction } from './families/extraction.ts';

checkFamily(extraction);
