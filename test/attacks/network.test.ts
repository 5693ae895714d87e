import { checkFamily } from './check-family.ts';
import { network } from './families/network.ts';

checkFamily(network);
