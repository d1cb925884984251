#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" of a JUnit file that ctest wrote."""
import sys
import xml.etree.ElementTree as ElementTree

counts = {"run": 0, "fail": 0, "notrun": 0, "disabled": 0}
for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    counts[case.get("status", "fail")] = counts.get(case.get("status", "fail"), 0) + 1
print(counts["run"], counts["fail"], counts["notrun"] + counts["disabled"])
