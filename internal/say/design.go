package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Design writes the verdict on a key design in a sentence.
func Design(v *detect.View) string {
	d, keys, requests := &v.Design, keyCount(v.DistinctKeys), "writes"
	if v.WriteShare < 0.5 {
		requests = "reads"
	}
	share := wording.Percent(d.Share) + " of the " + requests
	if d.Share < 0.0005 {
		share = "under 0.1% of the " + requests
	}
	switch d.Rule {
	case detect.RuleLittleTraffic:
		return fmt.Sprintf("Too little traffic to judge: no second has %d units.", detect.MinUnits)
	case detect.RuleYoung:
		return fmt.Sprintf("Judged after %d seconds of samples.", detect.CeilingSeconds)
	case detect.RuleIncomplete:
		return "Not judged: too much of the load lacks a part of this key."
	case detect.RuleNoKeys:
		return "No request names a partition key."
	case detect.RuleMasked:
		return fmt.Sprintf("Not judged: %s, with %s, is a mask, and many keys may be behind it.", quote(d.Key), share)
	case detect.RuleOneKey:
		return fmt.Sprintf("Every request seen has the same key: one partition serves %s WCU/s and %s RCU/s.", wording.Amount(detect.PartitionWrite), wording.Amount(detect.PartitionRead))
	case detect.RuleTimeKey:
		return fmt.Sprintf("The key is a time: the current one takes %s, and the next one will.", share)
	case detect.RuleShards:
		return fmt.Sprintf("%s key shards, evenly used, %s.", capital(keys), carry(v, requests))
	case detect.RuleUnevenShards:
		return fmt.Sprintf("%s key shards: the fullest has %.1f times its part, %s.", capital(keys), d.Share*v.DistinctKeys.Value, fills(v, requests))
	case detect.RuleFewValues:
		return fmt.Sprintf("Only %s values were seen, and more traffic adds none: they %s.", wording.Significant(v.DistinctKeys.Value), carry(v, requests))
	case detect.RuleFewKeys:
		return fmt.Sprintf("Only %s keys%s were seen: they %s.", wording.Significant(v.DistinctKeys.Value), form(v), carry(v, requests))
	case detect.RuleUnknown:
		return fmt.Sprintf("%s keys%s: the sampling does not prove the share of any.", capital(keys), form(v))
	case detect.RuleDominantKey:
		if d.Seconds > 0 { // the ceiling is of all the time
			return fmt.Sprintf("%s, one of %s keys, has %s in its %s.", quote(d.Key), keys, share, wording.Seconds(int(d.Seconds)))
		}
		return fmt.Sprintf("%s, one of %s keys, has %s, %s.", quote(d.Key), keys, share, fills(v, requests))
	case detect.RuleFullSecond:
		return fmt.Sprintf("%s keys share the load evenly, and are too few for the highest second.", capital(keys))
	case detect.RuleBurst:
		return fmt.Sprintf("Over all the time no key has much of the load, but %s had %s of a partition's limit in one second.", quote(d.Key), wording.Percent(v.Hottest.Utilization))
	case detect.RuleOrdered:
		return fmt.Sprintf("%s keys, numbered in order: DynamoDB places keys by hash, so the order does no harm.", capital(keys))
	case detect.RuleLongKey:
		return fmt.Sprintf("The keys spread well, but a query must know all parts of %s.", quote(v.Template.Pattern))
	case detect.RuleNoDelimiter:
		return "The keys spread well, but without a delimiter different values can make the same key."
	case detect.RuleManyKeys:
		if top := v.Top[:min(1, len(v.Top))]; len(top) > 0 && top[0].Share.Low >= 0.01 { // in too few seconds for a verdict
			return fmt.Sprintf("%s keys%s, and none has 1%% of the %s for long: %s had %s of the load in a short time.", capital(keys), form(v), requests, quote(top[0].Key), wording.Percent(top[0].Share.Low))
		}
		return fmt.Sprintf("%s keys%s, and none has 1%% of the %s.", capital(keys), form(v), requests)
	case detect.RuleLargest:
		return fmt.Sprintf("%s keys%s, the largest with %s.", capital(keys), form(v), share)
	}
	return fmt.Sprintf("%s keys%s, and none stands out.", capital(keys), form(v))
}

// form names the form that most keys have.
func form(v *detect.View) string {
	if v.Template.Pattern == "" {
		return ""
	}
	return " like " + quote(v.Template.Pattern)
}

// loadOf writes the load of so many full partitions.
func loadOf(partitions float64, requests string) string {
	if requests == "reads" {
		return wording.Significant(partitions*detect.Units(detect.PartitionRead)) + " RCU/s"
	}
	return wording.Significant(partitions*detect.Units(detect.PartitionWrite)) + " WCU/s"
}

// carry writes the load that all keys carry while each is in one partition. A partition
// may serve more eventually consistent reads.
func carry(v *detect.View, requests string) string {
	bound := "at most "
	if requests == "reads" {
		bound = "at least "
	}
	return "carry " + bound + loadOf(v.DistinctKeys.Value, requests) + " while DynamoDB splits none"
}

// fills writes the load of the table at which the key with the largest share fills its
// partition.
func fills(v *detect.View, requests string) string {
	return "and fills a partition at about " + loadOf(1/v.Design.Share, requests) + " of all keys"
}
