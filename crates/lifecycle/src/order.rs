//! The start order of components.

use crate::error::OrderError;
use std::borrow::Cow;
use std::collections::HashMap;

/// What the order depends on: the name of a component, and the names of those it needs.
pub(crate) struct Node<'a> {
    pub(crate) name: &'a str,
    pub(crate) needs: &'a [Cow<'static, str>],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    /// It is on the path that is being walked.
    OnPath,
    Placed,
}

/// Positions in an order in which each stands behind what it needs; otherwise as they were given.
pub(crate) fn start_order(nodes: &[Node<'_>]) -> Result<Vec<usize>, OrderError> {
    let mut positions = HashMap::with_capacity(nodes.len());
    for (position, node) in nodes.iter().enumerate() {
        if positions.insert(node.name, position).is_some() {
            return Err(OrderError::Duplicate { name: node.name.to_string() });
        }
    }
    let mut marks = vec![Mark::Unseen; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    for root in 0..nodes.len() {
        if marks[root] != Mark::Unseen {
            continue;
        }
        marks[root] = Mark::OnPath;
        // A path of its own instead of recursion: each step holds which need comes next.
        let mut path = vec![(root, 0)];
        while let Some(&mut (position, ref mut next)) = path.last_mut() {
            let node = &nodes[position];
            let Some(need) = node.needs.get(*next) else {
                marks[position] = Mark::Placed;
                order.push(position);
                path.pop();
                continue;
            };
            *next += 1;
            let &needed = positions.get(need.as_ref()).ok_or_else(|| OrderError::Unknown {
                component: node.name.to_string(),
                needs: need.to_string(),
                known: nodes.iter().map(|node| node.name).collect::<Vec<_>>().join(", "),
            })?;
            match marks[needed] {
                Mark::Placed => {}
                Mark::Unseen => {
                    marks[needed] = Mark::OnPath;
                    path.push((needed, 0));
                }
                Mark::OnPath => {
                    let circle = path.iter().map(|&(position, _)| position);
                    let circle = circle.skip_while(|&position| position != needed);
                    let path = circle.chain([needed]).map(|at| nodes[at].name.to_string());
                    return Err(OrderError::Cycle { path: path.collect() });
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(graph: &[(&str, &[&'static str])]) -> Result<Vec<usize>, OrderError> {
        let needs: Vec<Vec<_>> = graph
            .iter()
            .map(|(_, needs)| needs.iter().map(|&need| need.into()).collect())
            .collect();
        let nodes: Vec<_> =
            graph.iter().zip(&needs).map(|((name, _), needs)| Node { name, needs }).collect();
        start_order(&nodes)
    }

    #[test]
    fn dependencies_come_first_and_the_order_is_otherwise_kept() {
        let graph: [(&str, &[&str]); 4] = [
            ("gateway", &["engine", "feed"]),
            ("feed", &["engine"]),
            ("engine", &[]),
            ("clock", &[]),
        ];
        assert_eq!(order(&graph), Ok(vec![2, 1, 0, 3]));
    }

    #[test]
    fn a_circle_is_named_without_what_leads_to_it() {
        let graph: [(&str, &[&str]); 4] =
            [("door", &["a"]), ("a", &["b"]), ("b", &["c"]), ("c", &["a"])];
        let error = order(&graph).unwrap_err();
        assert_eq!(
            error.to_string(),
            "these components need each other in a circle: a → b → c → a"
        );
    }

    #[test]
    fn unknown_and_double_names_are_errors_that_name_them() {
        let error = order(&[("feed", &["engin"]), ("engine", &[])]).unwrap_err().to_string();
        assert_eq!(
            error,
            "component feed needs engin, which is not registered; registered are: feed, engine"
        );
        let error = order(&[("feed", &[]), ("feed", &[])]).unwrap_err().to_string();
        assert_eq!(error, "there are two components named feed");
    }

    proptest! {
        #[test]
        fn every_component_occurs_once_after_its_dependencies(
            edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..40),
        ) {
            let names: Vec<String> = (0..12).map(|n| format!("part {n}")).collect();
            // Needing only earlier numbers allows no circle.
            let mut needs = vec![Vec::new(); 12];
            for (a, b) in edges {
                if a != b {
                    needs[a.max(b)].push(Cow::Owned(names[a.min(b)].clone()));
                }
            }
            let nodes: Vec<_> =
                names.iter().zip(&needs).map(|(name, needs)| Node { name, needs }).rev().collect();
            let order = start_order(&nodes).unwrap();
            let mut started: Vec<&str> = Vec::new();
            for &position in &order {
                for need in nodes[position].needs {
                    prop_assert!(started.contains(&need.as_ref()));
                }
                started.push(nodes[position].name);
            }
            started.sort_unstable();
            started.dedup();
            prop_assert_eq!(started.len(), 12);
        }
    }
}
