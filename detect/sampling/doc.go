// Package sampling holds the statistics of sampled requests: the uncertainty of an
// estimate, as an interval to show and as a bound to decide by.
//
// A request sampled at the rate p stands for 1/p requests. An [Estimate] is the sum over
// the samples, with its variance. Pages show its 95% interval. A verdict needs the bound
// that holds with probability 1 − 10⁻⁶. A day has 86,400 seconds, so a 95% bound on each
// of them would alert without cause many times a day. Single seconds of a key with few
// samples prove little; [Means] of 10 and 60 seconds prove more.
//
// The intervals treat sampled requests as independent draws. They are too narrow if an
// application samples calls of several items. If it draws whole callers instead of
// requests, [Whole] bounds the uncertainty.
//
// Some producers gather requests and write them at once, all with the time of this flush.
// [Flushes] finds such seconds, and [Clocks] the producers that cut times to seconds.
package sampling
