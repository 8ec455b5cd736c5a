package say_test

import "github.com/keyheat/keyheat/detect"

var _ = add(story{
	name: "a key that another Region writes more", kind: detect.KeyWrites, key: "merchant#4711",
	tell: func(f *detect.Finding) {
		hot(1680, 1000, detect.GroundSplit)(f)
		f.Region, f.Replication = "eu-west-1", &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}, WCU: 1176}
	},
}, `orders: writes throttled on one key (“merchant#4711”)
Harm: 40% of the key's writes refused since 16:55:49 UTC, for 31 s.
Why: Up to 1,680 WCU/s on one key; one partition takes 1,000. Main callers: “web” 15%, other Regions 70%.
Now: Limit writes to “merchant#4711” to 900 WCU/s in all Regions together, us-east-1 first. Capacity cannot help.
Heals by itself? Likely, in minutes: a split.
Then: If it lasts, spread the key over 3 key shards, ≤560 WCU/s each.
`)

var _ = add(story{
	name: "one of three Regions has a tenth of it", kind: detect.KeyWrites, key: "merchant#4711",
	tell: func(f *detect.Finding) {
		hot(1680, 1680, detect.GroundSplit)(f)
		f.Region, f.Replication = "eu-west-1", &detect.Replication{Regions: []string{"ap-south-1", "eu-west-1", "us-east-1"}, WCU: 1512}
	},
}, `orders: writes to one key above the partition limit (“merchant#4711”)
Harm: No refusals seen yet; above the limit at times since 16:55:49 UTC, for 31 s.
Why: Up to 1,680 WCU/s on one key; one partition takes 1,000. 90% comes from other Regions.
Now: Wait some minutes for a split. If WriteKeyRangeThroughputThrottleEvents exceeds 0, limit writes to “merchant#4711” to 900 WCU/s in all Regions together, other Regions first.
Heals by itself? Likely, in minutes: a split.
Then: If it lasts, spread the key over 3 key shards, ≤560 WCU/s each.
`)
