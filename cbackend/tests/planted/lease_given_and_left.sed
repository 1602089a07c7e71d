s/vp_txgroup_said(group) == said/(said || !said)/
