// Package episode folds the seconds of one key, or of a table or index as a whole, into
// episodes. An episode begins with the first second above the policy's share of a limit.
// It ends when enough complete seconds have passed without another.
//
// A [Track] holds a subject's seconds while they are open to late data, and the
// episodes that older ones made. [Track.Episodes] judges the seconds in time order,
// under the current [Conditions]. [Episode.KeyFinding] and [Episode.Finding] put an
// episode's figures into a finding. [Track.Restore] continues another board's track.
//
// The thresholds are in detect's limits.go. FireSeconds of FireOf seconds above the share
// make an episode fire, and ResolveSeconds complete seconds resolve it, unless sampling
// explains their silence (sampling.Silence). SaturatedSeconds
// of SaturatedOf seconds on a plateau at the limit are saturation. For a sampled key the
// proven mean of some seconds counts too.
package episode
