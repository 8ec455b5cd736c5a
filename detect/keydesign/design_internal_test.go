package keydesign

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// TestDesigns is the story table of the verdicts on key designs. The examples
// and their order are those of DYNAMODB.md, "Key design verdicts" and "Shards".
func TestDesigns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                       string
		distinct, effective, share float64
		burst                      float64
		template                   string
		newest, index              bool
		peak                       float64 // write units; 1,000 when 0
		fits                       float64 // 1 when 0
		want                       detect.DesignVerdict
		rule                       detect.DesignRule
	}{
		{name: "user id", distinct: 100_000, effective: 60_000, share: 0.001, template: "user#<id>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "user id with bursts", distinct: 76_000, effective: 240, share: 0.008, burst: 1.88, template: "user#<id>",
			want: detect.DesignWatch, rule: detect.RuleBurst},
		{name: "user id up to the limit", distinct: 76_000, effective: 240, share: 0.008, burst: 1, template: "user#<id>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "a uuid", distinct: 1e6, effective: 1e6, template: "<uuid>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "device id: power users", distinct: 20_000, effective: 900, share: 0.03, template: "device#<id>",
			want: detect.DesignGood, rule: detect.RuleLargest},
		{name: "customer id, of which there are some hundreds", distinct: 600, effective: 400, share: 0.005, template: "customer#<id>",
			want: detect.DesignGood, rule: detect.RuleLargest},
		{name: "order id, used as they come", distinct: 50_000, effective: 30_000, template: "order#<id>", newest: true,
			want: detect.DesignGood, rule: detect.RuleOrdered},
		{name: "tenant id with one giant tenant", distinct: 2_000, effective: 6, share: 0.4, template: "tenant#<id>",
			want: detect.DesignWatch, rule: detect.RuleDominantKey},
		{name: "a giant that is more than all others", distinct: 2_000, effective: 1.5, share: 0.8, template: "tenant#<id>",
			want: detect.DesignPoor, rule: detect.RuleDominantKey},
		{name: "date", distinct: 30, effective: 1, share: 1, template: "<date>",
			want: detect.DesignPoor, rule: detect.RuleTimeKey},
		{name: "hour under a word", distinct: 200, effective: 1.1, share: 0.97, template: "events#<hour>",
			want: detect.DesignPoor, rule: detect.RuleTimeKey},
		{name: "timestamps that are read at random", distinct: 50_000, effective: 9_000, template: "<time>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "country", distinct: 40, effective: 5, share: 0.4, template: "<word>",
			want: detect.DesignVeryPoor, rule: detect.RuleFewValues},
		{name: "status with 80% on one value", distinct: 4, effective: 1.5, share: 0.8, template: "<word>",
			want: detect.DesignVeryPoor, rule: detect.RuleFewValues},
		{name: "five status values, evenly used", distinct: 5, effective: 5, share: 0.2, template: "<word>",
			want: detect.DesignVeryPoor, rule: detect.RuleFewValues},
		{name: "a status after a word", distinct: 5, effective: 4, share: 0.25, template: "status#<word>",
			want: detect.DesignVeryPoor, rule: detect.RuleFewValues},
		{name: "a boolean", distinct: 2, effective: 1.9, share: 0.6, template: "<number>",
			want: detect.DesignVeryPoor, rule: detect.RuleFewValues},
		{name: "a constant", distinct: 1, effective: 1, share: 1, template: "ALL",
			want: detect.DesignCatastrophic, rule: detect.RuleOneKey},
		{name: "tenant#entity", distinct: 80_000, effective: 20_000, share: 0.002, template: "tenant#<id>#order#<id>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "customer#product#country", distinct: 30_000, effective: 9_000, share: 0.004, template: "<id>#<id>#<word>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "device#date", distinct: 20_000, effective: 5_000, share: 0.004, template: "device#<id>#<date>",
			want: detect.DesignExcellent, rule: detect.RuleManyKeys},
		{name: "seven parts", distinct: 90_000, effective: 50_000, template: "<id>#<id>#<word>#<id>#<word>#<date>#<id>",
			want: detect.DesignGood, rule: detect.RuleLongKey},
		{name: "no delimiter", distinct: 90_000, effective: 50_000, template: "user<id>order<id>",
			want: detect.DesignGood, rule: detect.RuleNoDelimiter},
		{name: "a sharded index: 0 to 9, the real key in the sort key", distinct: 10, effective: 9.9, share: 0.105, template: "<number>", index: true,
			want: detect.DesignGood, rule: detect.RuleShards},
		{name: "ten numbers in a table, whose keys say what they are", distinct: 10, effective: 9.9, share: 0.105, template: "<number>",
			want: detect.DesignVeryPoor, rule: detect.RuleFewValues},
		{name: "uneven shards", distinct: 8, effective: 5, share: 0.3, template: "OPEN#SHARD_<shard>",
			want: detect.DesignWatch, rule: detect.RuleUnevenShards},
		{name: "three tenants so far", distinct: 3, effective: 3, share: 0.35, template: "tenant#<id>",
			want: detect.DesignPoor, rule: detect.RuleFewKeys},
		{name: "fifty devices", distinct: 50, effective: 45, share: 0.03, template: "device#<id>",
			want: detect.DesignWatch, rule: detect.RuleFewKeys},
		{name: "a hundred documents, of which one has nearly all", distinct: 100, effective: 1.2, share: 0.938, template: "doc#<id>",
			want: detect.DesignPoor, rule: detect.RuleDominantKey},
		{name: "a hundred documents, of which one has two fifths", distinct: 100, effective: 4, share: 0.4, template: "doc#<id>",
			want: detect.DesignWatch, rule: detect.RuleFewKeys},
		{name: "hardly any traffic", distinct: 1, effective: 1, share: 1, peak: 9, template: "ALL",
			want: detect.DesignUnjudged, rule: detect.RuleLittleTraffic},
		{name: "a burst of another form", distinct: 76_000, effective: 240, share: 0.008, burst: 1.88, template: "user#<id>", fits: 0.6,
			want: detect.DesignWatch, rule: detect.RuleBurst},
		{name: "300 shards that are all full", distinct: 300, effective: 300, share: 0.0034, burst: 1.02, peak: 306_000, template: "total#SHARD_<shard>",
			want: detect.DesignWatch, rule: detect.RuleFullSecond},
		{name: "shards among other keys", distinct: 16, effective: 9, share: 0.1, template: "OPEN#SHARD_<shard>", fits: 0.5,
			want: detect.DesignWatch, rule: detect.RuleFewKeys},
		{name: "words among ids", distinct: 200, effective: 9, share: 0.01, template: "<word>", fits: 0.6,
			want: detect.DesignGood, rule: detect.RuleLargest},
		{name: "keys that are all unlike", distinct: 400, effective: 400, share: 0.004,
			want: detect.DesignGood, rule: detect.RuleLargest},
		{name: "only scans", want: detect.DesignUnjudged, rule: detect.RuleNoKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.peak == 0 {
				c.peak = 1000
			}
			if c.fits == 0 {
				c.fits = 1
			}
			got := judgeDesign(traits{
				peakWCU: c.peak, distinct: c.distinct, effective: c.effective,
				share: c.share, burst: c.burst, template: c.template, newest: c.newest, index: c.index,
				fits: c.fits, key: "largest", hottest: "hottest",
			})
			if got.Verdict != c.want || got.Rule != c.rule {
				t.Errorf("%s by %s, want %s by %s", got.Verdict, got.Rule, c.want, c.rule)
			}
			named := map[detect.DesignRule]sample.Text{detect.RuleDominantKey: "largest", detect.RuleLargest: "largest", detect.RuleFewValues: "largest", detect.RuleUnevenShards: "largest", detect.RuleBurst: "hottest"}
			if got.Key != named[c.rule] || got.Key == "largest" && got.Share != c.share {
				t.Errorf("it names %q with %v", got.Key, got.Share)
			}
		})
	}
}
